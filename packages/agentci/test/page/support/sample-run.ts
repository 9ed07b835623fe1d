import { pageTrace } from '@agentci/reporters';
import type {
  CheckResult,
  CheckStatus,
  PageEvidence,
  QueryResult,
  RunResult,
} from '@agentci/results';
import { summarize, worstStatus } from '@agentci/results';
import { compareRuns } from '@agentci/run/baseline';
import type { Step, Trace } from '@agentci/trace';
import { simpleTrace } from '@agentci/trace';

const check = (
  id: string,
  status: CheckStatus,
  message: string,
  rest: Partial<CheckResult> = {},
): CheckResult => ({
  id,
  status,
  message,
  location: { file: 'agentci_spec.yaml', line: 12, column: 7 },
  evidence: [],
  ...rest,
});

const layer = (checks: CheckResult[], details: Record<string, unknown> = {}) => ({
  status: worstStatus(checks.map(({ status }) => status)),
  messages: checks.filter(({ status }) => status !== 'pass').map(({ message }) => message),
  details,
  checks,
});

export interface SampleQuery {
  readonly id: string;
  readonly query: string;
  readonly tags?: string[];
  readonly answer?: string | null;
  /** The answer must contain these. */
  readonly terms?: string[];
  readonly correctness?: CheckStatus;
  readonly path?: CheckStatus;
  readonly cost?: CheckStatus;
  readonly usage?: {
    cost_usd: number | null;
    total_tokens: number | null;
    latency_ms: number | null;
  };
  readonly rest?: Partial<QueryResult>;
}

export function sampleResult(sample: SampleQuery): QueryResult {
  const usage = sample.usage ?? { cost_usd: 0.0012, total_tokens: 640, latency_ms: 1200 };
  const layers = {
    correctness: layer(
      [
        check(
          'correctness.expected_in_answer',
          sample.correctness ?? 'pass',
          sample.correctness === 'fail'
            ? '1 of 2 terms is missing from the answer: "approval by a person"'
            : '2 of 2 terms are in the answer',
          {
            value: sample.correctness === 'fail' ? 1 : 2,
            limit: 2,
          },
        ),
      ],
      sample.terms === undefined
        ? {}
        : { expected_in_answer: { checked: sample.terms, all_found: false } },
    ),
    path: layer([
      check(
        'path.max_tool_calls',
        sample.path ?? 'pass',
        sample.path === 'warn' ? 'tool calls: 5, limit 4' : 'tool calls: 3 of at most 4',
        {
          value: sample.path === 'warn' ? 5 : 3,
          limit: 4,
          evidence: [{ step: 2, call: 1 }],
        },
      ),
    ]),
    cost: layer(
      [
        check(
          'cost.max_cost_usd',
          sample.cost ?? 'pass',
          usage.cost_usd === null
            ? 'the cost is not known'
            : `cost: $${usage.cost_usd}, limit ${sample.cost === 'warn' ? 0.01 : 0.02}`,
          { value: usage.cost_usd, limit: sample.cost === 'warn' ? 0.01 : 0.02 },
        ),
      ],
      {
        actual: usage,
      },
    ),
  };
  return {
    id: sample.id,
    query: sample.query,
    tags: sample.tags ?? [],
    status: worstStatus(Object.values(layers).map(({ status }) => status)),
    answer: sample.answer === undefined ? `The answer to ${sample.query}` : sample.answer,
    warnings: [],
    location: { file: 'agentci_spec.yaml', line: 10, column: 5 },
    ...layers,
    metrics: {},
    ...sample.rest,
  };
}

export function sampleRun(results: QueryResult[], rest: Partial<RunResult> = {}): RunResult {
  return {
    schema: 'agentci.results/1',
    agent: 'support-router',
    run_id: '20261115-214012345-3f2a',
    spec: { file: 'agentci_spec.yaml', hash: 'sha256:0' },
    judge: { calls: 3, cost_usd: 0.0021, cached: 2 },
    checks: [],
    summary: summarize({ results, checks: [] }),
    results,
    notices: [],
    started_at: '2026-11-15T21:40:12.345Z',
    duration_ms: 5200,
    ...rest,
  };
}

/** A trace with nesting, times, a failed call and a handoff. */
export function nestedTrace(id: string, answer: string): Trace {
  const base = simpleTrace({
    id,
    query: 'Please refund order 1182',
    answer,
    tool_calls: [],
    llm_calls: [],
    latency_ms: 2400,
  });
  const steps: Step[] = [
    { kind: 'agent', id: 'a', seq: 1, name: 'Triage', status: 'ok', t0: 0, t1: 2400 },
    {
      kind: 'llm',
      id: 'b',
      seq: 2,
      parent: 'a',
      agent: 'Triage',
      model: 'gpt-4o-mini',
      status: 'ok',
      t0: 20,
      t1: 620,
      usage: { input: 410, output: 36 },
      input: [{ role: 'user', parts: [{ type: 'text', text: 'Please refund order 1182' }] }],
      output: {
        role: 'assistant',
        parts: [],
        calls: [{ name: 'lookup_order', args: { id: 1182 } }],
      },
    },
    {
      kind: 'tool',
      id: 'c',
      seq: 3,
      parent: 'a',
      name: 'lookup_order',
      by: 'client',
      evidence: ['span'],
      status: 'ok',
      t0: 640,
      t1: 900,
      args: { id: 1182 },
      result: { status: 'delivered', total: 42.5 },
    },
    {
      kind: 'handoff',
      id: 'd',
      seq: 4,
      parent: 'a',
      from: 'Triage',
      to: 'Billing',
      mode: 'pass',
      status: 'ok',
      t0: 910,
      t1: 911,
    },
    {
      kind: 'agent',
      id: 'e',
      seq: 5,
      parent: 'a',
      name: 'Billing',
      status: 'ok',
      t0: 920,
      t1: 2390,
    },
    {
      kind: 'tool',
      id: 'f',
      seq: 6,
      parent: 'e',
      name: 'refund',
      by: 'client',
      evidence: ['span'],
      status: 'error',
      t0: 1000,
      t1: 1500,
      args: { order: 1182, amount: 42.5 },
      error: { message: 'amount needs approval' },
    },
    {
      kind: 'llm',
      id: 'g',
      seq: 7,
      parent: 'e',
      agent: 'Billing',
      model: 'gpt-4o-mini',
      status: 'ok',
      t0: 1520,
      t1: 2380,
      usage: { input: 690, output: 88 },
      cost: { usd: 0.00016, source: 'reported' },
      output: { role: 'assistant', parts: [{ type: 'text', text: answer }] },
    },
  ];
  return {
    ...base,
    steps,
    captured: { ...base.captured, toolCalls: 'full', llmCalls: 'full', timing: 'full' },
  };
}

/** A run that covers all features, the run before it, and its evidence. */
export function sampleReport() {
  const refundAnswer = 'The refund of $42.50 needs an approval. I have opened a ticket for you.';
  const results = [
    sampleResult({ id: 'greeting', query: 'Hello, who are you?', tags: ['smoke'] }),
    sampleResult({
      id: 'refund',
      query: 'Please refund order 1182',
      tags: ['smoke', 'billing'],
      answer: refundAnswer,
      terms: ['ticket', 'approval by a person'],
      correctness: 'fail',
      path: 'warn',
      usage: { cost_usd: 0.0184, total_tokens: 1224, latency_ms: 2400 },
      rest: {
        description: 'The agent may look the order up; paying out is for people.',
        baseline: { version: 'v1', file: 'baselines/support-router/v1/refund.json' },
        pass_rate: { passed: 1, decided: 2, min: 1 },
        runs: [
          {
            run: 1,
            status: 'fail',
            answer: refundAnswer,
            cost_usd: 0.0184,
            total_tokens: 1224,
            latency_ms: 2400,
            messages: ['1 of 2 terms is in the answer'],
          },
          {
            run: 2,
            status: 'pass',
            answer: 'A colleague will approve it.',
            cost_usd: 0.011,
            total_tokens: 980,
            latency_ms: 1900,
            messages: [],
          },
          {
            run: 3,
            status: 'error',
            answer: null,
            error: { kind: 'infra', message: '[INFRA] no answer within 5000 ms' },
            messages: [],
          },
        ],
        stability: {
          class: 'flaky',
          pass_rate: 0.5,
          interval: { low: 0.09, high: 0.91 },
          pass_at_k: [0.5, 1],
          pass_hat_k: [0.5, 0],
          flip: { source: 'agent', detail: 'answers differ' },
          cost_usd: null,
          latency_ms: null,
        },
        metrics: {
          tool_success: { value: 0.5, detail: { calls: 2, failed: 1 } },
          faithfulness: { value: null, detail: { reason: 'no context was captured' } },
        },
      },
    }),
    sampleResult({
      id: 'invoice',
      query: 'Where is my invoice for October?',
      tags: ['billing'],
      cost: 'warn',
      usage: { cost_usd: 0.0121, total_tokens: 2210, latency_ms: 3100 },
    }),
    sampleResult({
      id: 'cancel',
      query: 'Cancel my subscription',
      tags: ['billing'],
      path: 'warn',
      usage: { cost_usd: 0.004, total_tokens: 900, latency_ms: 1400 },
    }),
    sampleResult({
      id: 'outage',
      query: 'Is there an outage right now?',
      tags: ['status'],
      correctness: 'error',
      answer: null,
      usage: { cost_usd: null, total_tokens: null, latency_ms: null },
      rest: { error: { kind: 'infra', message: '[INFRA] connection refused (after 3 tries)' } },
    }),
    sampleResult({
      id: 'legal',
      query: 'Can I sue you?',
      tags: ['edge-case'],
      correctness: 'skip',
      path: 'skip',
      cost: 'skip',
    }),
    ...Array.from({ length: 14 }, (_, i) =>
      sampleResult({
        id: `faq-${i + 1}`,
        query: `Frequent question number ${i + 1}`,
        tags: ['faq'],
        usage: {
          cost_usd: 0.001 + i * 0.0004,
          total_tokens: 400 + ((i * 137) % 900),
          latency_ms: 700 + ((i * 331) % 1900),
        },
      }),
    ),
  ];
  results[1]!.correctness.details.judge = [
    {
      check: 'correctness.llm_judge',
      rubric: { id: 'polite_refusal' },
      model: 'openai:gpt-4o-mini',
      score: 2,
      label: 'fail',
      rationale: 'The answer opens a ticket, but does not say who decides or how long it takes.',
    },
  ];
  const run = sampleRun(results, {
    notices: ['the spec has changed since baseline v1 was captured'],
  });
  const earlier = sampleRun(
    results.map(
      (result): QueryResult =>
        result.id === 'refund'
          ? {
              ...sampleResult({
                id: 'refund',
                query: result.query,
                answer: 'The refund needs an approval by a person.',
              }),
            }
          : result,
    ),
    { run_id: '20261114-090000000-1a2b', started_at: '2026-11-14T09:00:00.000Z' },
  );
  const evidence: PageEvidence = {
    traces: [
      pageTrace(nestedTrace('refund', refundAnswer)),
      pageTrace(nestedTrace('refund', 'A colleague will approve it.')),
    ],
    shown: 0,
    baseline: {
      version: 'v1',
      tools: ['lookup_order', 'check_policy', 'escalate'],
      answer: 'The refund needs an approval by a person.',
    },
  };
  return {
    run,
    before: { run: earlier, comparison: compareRuns({ before: earlier, after: run }) },
    evidence: { byQuery: new Map([['refund', evidence]]), notes: [] },
  };
}
