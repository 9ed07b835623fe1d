import { pageTrace } from '@agentci/reporters';
import type { Cell, QueryResult, RunResult } from '@agentci/results';
import type { Trace } from '@agentci/trace';
import { nestedTrace, sampleResult, sampleRun } from './sample-run.ts';

/** A run with this text in every place: ids, cells, tools, agents, terms, findings, files. */
export function runOfText(text: string): {
  run: RunResult;
  evidence: ReturnType<typeof evidenceOf>;
} {
  const cells: Cell[] = [{ model: text }, { model: `${text}-2` }];
  const results = cells.map((cell, i): QueryResult => {
    const status = i === 0 ? 'pass' : 'fail';
    const result = sampleResult({
      id: text,
      query: text,
      tags: [text, text],
      answer: `${text} ${text}`,
      correctness: status,
    });
    const [check] = result.correctness.checks;
    Object.assign(check!, {
      message: text,
      value: { deep: text, list: [text] },
      limit: text,
      location: { file: text, line: 1, column: 1 },
      evidence: [{ text }, { text: `${text}!` }, { step: 2 }],
    });
    const other = { ...check!, id: `correctness.${text}`, value: 7.617142857142857, limit: 1 };
    result.correctness.checks.push(other);
    result.correctness.details.not_in_answer = { checked: [text] };
    result.correctness.details.judge = [
      { check: text, model: text, rationale: text, score: 1, label: text },
    ];
    result.path.checks[0]!.message = text;
    const turn = {
      user: text,
      answer: text,
      tools: [text, text],
      latency_ms: 1,
      status: 'fail' as const,
    };
    return {
      ...result,
      cell,
      description: text,
      location: { file: text, line: 1, column: 1 },
      warnings: [{ code: text, message: text }],
      xfail: { reason: text, status },
      error: { kind: 'agent', message: text, stderr: text },
      metrics: { [text]: { value: 1, detail: { [text]: text } } },
      ...(i === 0
        ? {}
        : { conversation: { ending: text, turns: [{ ...turn, turn: 1, checks: [check!.id] }] } }),
      runs: [
        {
          run: 1,
          status,
          answer: text,
          messages: [text],
          cost_usd: 1,
          latency_ms: 1,
          total_tokens: 1,
        },
      ],
    };
  });
  const summary = {
    total: 1,
    warned: 0,
    errors: 0,
    skipped: 0,
    interval: { low: 0, high: 1 },
    cost_usd: 1e-7,
    unpriced_runs: 0,
  };
  const run = sampleRun(results, {
    agent: text,
    run_id: text,
    spec: { file: text, hash: '' },
    notices: [text],
    checks: [{ ...results[1]!.correctness.checks[0]!, id: text }],
    cells: [
      { ...summary, cell: cells[0]!, passed: 1, failed: 0, pass_rate: 1 },
      { ...summary, cell: cells[1]!, passed: 0, failed: 1, pass_rate: 0 },
    ],
    cell_comparisons: [
      {
        ...{
          cell: cells[1]!,
          reference: cells[0]!,
          pairs: 1,
          lost: 1,
          won: 0,
          difference: -1,
          p: 1,
        },
        ...{ interval: { low: -1, high: 1 }, verdict: 'inconclusive', more_queries: 9 },
      },
    ],
  });
  return { run, evidence: evidenceOf(results, text) };
}

function evidenceOf(results: readonly QueryResult[], text: string) {
  const renamed = (trace: Trace): Trace => ({
    ...trace,
    error: { message: text },
    warnings: [{ code: 'x', message: text }],
    steps: trace.steps.map((step) => {
      if (step.kind === 'tool' || step.kind === 'agent')
        return { ...step, name: text, error: { message: text } };
      if (step.kind === 'handoff') return { ...step, from: text, to: text };
      return { ...step, model: text, agent: `${text}-2` };
    }) as Trace['steps'],
  });
  const page = pageTrace(renamed(nestedTrace(text, text)));
  return {
    byQuery: new Map(
      results.map((result) => [
        `${result.id} (model=${result.cell!.model})`,
        {
          traces: [{ ...page, tools: [text, text, `${text}-2`] }],
          shown: 0,
          baseline: { version: text, tools: [`${text}-3`, text], answer: text },
        },
      ]),
    ),
    notes: [text],
  };
}
