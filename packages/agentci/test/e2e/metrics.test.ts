import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scriptedModel } from '@agentci/testing/scripted-judge';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const SPEC = `version: 1
agent: support
runner: {replay: ./traces.jsonl}
metrics:
  faithfulness: 0.5
  answer_correctness: 1
  hallucination_rate: {max: 0.9, severity: warn}
  tool_success: 0.9
  cost: {max: 0.01, severity: fail}
  token_usage: 1000
  pii_leakage: {min: 1, formula: max}
  privacy_budget: {min: 0.5, total_budget: 4}
  latency:
queries:
  - id: parcel
    query: Where is my parcel?
    context: [Oslo]
    expected_output: In Oslo.
`;
const TRACE = {
  id: 'parcel',
  query: 'Where is my parcel?',
  answer: 'In Oslo.',
  tool_calls: [{ name: 'track', result: 'Oslo', error: null }],
  llm_calls: [{ model: 'm', input_tokens: 100, output_tokens: 20, cost_usd: 0.001 }],
  latency_ms: 900,
};
const LOG = { id: 'parcel', query: 'Where is my parcel?' };
const log = (answer: string, epsilon: number) => ({
  ...LOG,
  events: [
    { type: 'tool_call', payload: { name: 'track', status: 'success', privacy_epsilon: epsilon } },
    { type: 'agent_response', payload: { content: answer } },
  ],
  metadata: { cost: 0.001, usage: { prompt_tokens: 100, completion_tokens: 20 } },
});
const project = (traces: object, spec = SPEC, more: Record<string, string> = {}) =>
  tempDir({ 'agentci_spec.yaml': spec, 'traces.jsonl': JSON.stringify(traces), ...more });

const statuses = (checks: { id: string; status: string }[]) =>
  Object.fromEntries(checks.map(({ id, status }) => [id, status]));

describe('a suite that gates on eight metrics', () => {
  test('passes, with every value in the results and the run-wide one among the checks of the run', async () => {
    const { code, stdout, stderr } = await cli(['test', '-f', 'json'], {
      cwd: project(log('In Oslo.', 1)),
    });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^1 query: 1 passed .*\nok \(exit 0\)\n$/),
    });
    const run = JSON.parse(stdout);
    const [result] = run.results;
    expect(result.metrics).toMatchObject({
      faithfulness: { value: 1, detail: { method: 'lexical' } },
      answer_correctness: { value: 1 },
      hallucination_rate: { value: 0 },
      tool_success: { value: 1 },
      cost: { value: 0.001 },
      token_usage: { value: 120 },
      pii_leakage: { value: 1, detail: { num_detections: 0 } },
      latency: { value: null, detail: { reason: expect.any(String) } },
    });
    expect(statuses(result.correctness.checks)).toEqual({
      'metric.faithfulness': 'pass',
      'metric.answer_correctness': 'pass',
      'metric.hallucination_rate': 'pass',
      'metric.tool_success': 'pass',
      'metric.pii_leakage': 'pass',
    });
    expect(result.cost.checks).toMatchObject([
      {
        id: 'metric.cost',
        status: 'pass',
        value: 0.001,
        limit: { max: 0.01 },
        location: { line: 9, column: 3 },
      },
      { id: 'metric.token_usage', status: 'pass', value: 120, limit: { max: 1000 } },
    ]);
    expect(run.checks).toMatchObject([
      { id: 'metric.privacy_budget', status: 'pass', value: 0.75, limit: { min: 0.5 } },
    ]);
  });

  test('fails if a bound is missed, and reports masked personal data', async () => {
    const { code, stdout } = await cli(['test', '-f', 'json'], {
      cwd: project(log('Ask bob@example.com.', 3)),
    });
    expect(code).toBe(1);
    const run = JSON.parse(stdout);
    const [result] = run.results;
    expect(statuses(result.correctness.checks)).toMatchObject({
      'metric.faithfulness': 'fail',
      'metric.hallucination_rate': 'warn',
      'metric.pii_leakage': 'fail',
    });
    const pii = result.correctness.checks.find(
      ({ id }: { id: string }) => id === 'metric.pii_leakage',
    );
    expect(pii.evidence).toEqual([{ text: 'email in the output: bo***********om' }]);
    expect(run.checks).toMatchObject([
      { id: 'metric.privacy_budget', status: 'fail', value: 0.25 },
    ]);
  });

  test('cannot tell where a gating metric has nothing to measure: exit 2, never a pass', async () => {
    const { code, stdout } = await cli(['test', '-f', 'json'], { cwd: project(TRACE) });
    expect(code).toBe(2);
    expect(JSON.parse(stdout).checks).toMatchObject([
      { id: 'metric.privacy_budget', status: 'error' },
    ]);
  });

  test.each(['console', 'junit', 'sarif', 'markdown', 'csv', 'github'])(
    'a missed bound shows up in %s',
    async (format) => {
      const { code, stdout } = await cli(['test', '-f', format], {
        cwd: project(log('Ask bob@example.com.', 1)),
      });
      expect(code).toBe(1);
      expect(stdout.replaceAll('&#95;', '_')).toContain('pii_leakage');
    },
  );
});

test('values are separate series in prometheus, without unmeasured ones', async () => {
  const { stdout } = await cli(['test', '-f', 'prometheus'], { cwd: project(log('In Oslo.', 1)) });
  expect(stdout).toMatch(/^agentci_metric\{.*metric="tool_success"\} 1$/m);
  expect(stdout).not.toContain('metric="latency"');
  expect(stdout).toContain('agentci_run_metric{agent="support",metric="privacy_budget"} 0.75\n');
});

describe('user-defined metrics', () => {
  const spec = (metrics: string) =>
    `version: 1\nagent: a\nuse: [./metrics/tone.ts]\nrunner: {replay: ./traces.jsonl}\nqueries:\n  - {id: parcel, query: Where is my parcel?, metrics: ${metrics}}\n`;
  const tone = `type Input = { outcome?: unknown; trace: { final?: { text?: string } }; params: { word?: string } };
export const metric = {
  name: 'tone',
  layer: 'correctness',
  evaluate: ({ trace, params }: Input) => ({ value: trace.final?.text?.includes(params.word ?? 'please') ? 1 : 0, detail: {} }),
};
export const broken = { name: 'broken', evaluate: () => { throw new Error('boom'); } };
`;
  const files = { 'metrics/tone.ts': tone };

  test('come from TypeScript modules and gate like the built-in ones', async () => {
    const pass = await cli(['test', '-f', 'json'], {
      cwd: project(TRACE, spec('{tone: {min: 1, word: Oslo}}'), files),
    });
    expect(pass.code).toBe(0);
    expect(JSON.parse(pass.stdout).results[0].metrics).toEqual({ tone: { value: 1, detail: {} } });
    const fail = await cli(['test', '-f', 'json'], {
      cwd: project(TRACE, spec('{tone: 1}'), files),
    });
    expect(fail.code).toBe(1);
  });

  test('that throw give separate errors', async () => {
    const { code, stdout } = await cli(['test', '-f', 'json'], {
      cwd: project(TRACE, spec('{broken: 1, tool_success: 1}'), files),
    });
    expect(code).toBe(2);
    expect(statuses(JSON.parse(stdout).results[0].correctness.checks)).toEqual({
      'metric.broken': 'error',
      'metric.tool_success': 'pass',
    });
  });

  test('may be classes, and one value for the whole run', async () => {
    const classes = `export default class { name = 'tone'; evaluate() { return { value: 0.25, detail: {} }; } }
export class Letters {
  scale = 'raw';
  unit = 'letters';
  evaluateSuite(inputs: { trace?: { final?: { text?: string } } }[]) {
    return { value: inputs.reduce((sum, { trace }) => sum + (trace?.final?.text?.length ?? 0), 0), detail: {} };
  }
}
`;
    const { code, stdout } = await cli(['test', '-f', 'json'], {
      cwd: project(TRACE, spec('{tone: 0.2, Letters: {max: 10}}'), { 'metrics/tone.ts': classes }),
    });
    expect(code).toBe(0);
    const run = JSON.parse(stdout);
    expect(run.results[0].metrics.tone.value).toBe(0.25);
    expect(run.metrics).toEqual({ Letters: { value: 8, unit: 'letters', detail: {} } });
  });

  test('are as the page on them shows', async () => {
    const page = readFileSync(
      new URL('../../../../docs/metrics/custom.md', import.meta.url),
      'utf8',
    );
    const block = (language: string) =>
      page.match(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``))![1]!;
    const cwd = tempDir({
      'agentci_spec.yaml': block('yaml'),
      'metrics/politeness.ts': block('ts'),
      'traces.jsonl': JSON.stringify({ ...TRACE, id: undefined, answer: 'Please wait.' }),
    });
    mkdirSync(join(cwd, 'node_modules', '@agentci'), { recursive: true });
    symlinkSync(
      fileURLToPath(new URL('../..', import.meta.url)),
      join(cwd, 'node_modules', '@agentci', 'agentci'),
    );
    const { code, stdout } = await cli(['test', '--traces', 'traces.jsonl', '-f', 'json'], { cwd });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).results[0].metrics.politeness.value).toBe(1);
  });

  test('are missed in a module that has none', async () => {
    const { code, stderr } = await cli(['test'], {
      cwd: project(TRACE, spec('{tone: 1}'), { 'metrics/tone.ts': 'export const tone = 1;' }),
    });
    expect(code).toBe(2);
    expect(stderr).toContain('METRIC_INVALID');
  });

  test('that nobody wrote are found out before the agent runs', async () => {
    const { code, stderr } = await cli(['test'], { cwd: project(TRACE, spec('{tune: 1}'), files) });
    expect(code).toBe(2);
    expect(stderr).toMatch(/did you mean "tone"/);
  });

  test('are never imported by validate', async () => {
    const evil = { 'metrics/tone.ts': 'throw new Error("imported");' };
    expect(
      await cli(['validate', 'agentci_spec.yaml'], {
        cwd: project(TRACE, spec('{tone: 1}'), evil),
      }),
    ).toMatchObject({ code: 0 });
  });
});

describe('metrics that ask a model', () => {
  const spec = (url: string) => `version: 1
agent: a
runner: {replay: ./traces.jsonl}
judge_config: {model: "openai:gpt-4o-mini", base_url: "${url}", api_key_env: JUDGE_KEY_OF_THE_TEST}
queries:
  - id: parcel
    query: Where is my parcel?
    context: [The parcel is in Oslo]
    metrics: {faithfulness: {min: 0.9, method: model}}
`;
  const env = { JUDGE_KEY_OF_THE_TEST: 'sk-of-the-test' };

  test('are measured live, then from the cache without a key; --judge off never falls back', async () => {
    const server = await scriptedModel((request) => ({
      text: JSON.stringify(request).includes('Split the block')
        ? '{"statements": ["The parcel is in Oslo."]}'
        : '{"verdicts": [{"index": 1, "reason": "it says so", "verdict": 1}]}',
      usage: { input: 50, output: 10 },
    }));
    const cwd = project(TRACE, spec(server.url));
    const live = await cli(['test', '-f', 'json'], { cwd, env });
    expect(live.code).toBe(0);
    const first = JSON.parse(live.stdout);
    expect(first.judge).toMatchObject({ calls: 2, cached: 0 });
    expect(first.results[0].metrics.faithfulness).toMatchObject({
      value: 1,
      detail: {
        method: 'model',
        model: 'openai:gpt-4o-mini',
        claims: 1,
        supported: 1,
        cached: false,
      },
    });
    const again = await cli(['test', '-f', 'json', '--judge', 'recorded'], { cwd });
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout).judge).toMatchObject({ calls: 0, cached: 2 });
    const off = await cli(['test', '-f', 'json', '--judge', 'off'], { cwd });
    expect(off.code).toBe(2);
    expect(JSON.parse(off.stdout).results[0].correctness.checks).toMatchObject([
      { status: 'skip', skip_reason: 'off' },
    ]);
  });

  test('are four, each with its own questions, counts and cached replies', async () => {
    const asked: string[] = [];
    const server = await scriptedModel((request) => {
      const text = JSON.stringify(request);
      const isSplit = text.includes('Split the block');
      const isUseful = text.includes('was useful in arriving');
      let kind: string;
      if (isSplit) {
        kind = 'claims';
      } else if (isUseful) {
        kind = 'useful';
      } else {
        kind = 'support';
      }
      asked.push(kind);
      const one = '{"index": 1, "reason": "r", "verdict": 1}';
      if (isSplit) return { text: '{"statements": ["The parcel is in Oslo.", "It is green."]}' };
      if (isUseful)
        return {
          text: `{"verdicts": [${text.includes('Bananas') ? one.replace(': 1}', ': 0}') : one}]}`,
        };
      return { text: `{"verdicts": [${one}, {"index": 2, "reason": "r", "verdict": 0}]}` };
    });
    const metrics = `    context: [Bananas are yellow, The parcel is in Oslo]
    expected_output: The parcel is in Oslo and green.
    metrics:
      faithfulness: {method: model}
      hallucination_rate: {method: model}
      answer_correctness: {method: model, similarity_weight: 0}
      retrieval_quality: {min: 0.5, method: model}
`;
    const whole = spec(server.url).split('    context:')[0] + metrics;
    const cwd = project(TRACE, whole);
    const { code, stdout } = await cli(['test', '-f', 'json'], { cwd, env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).results[0].metrics).toMatchObject({
      faithfulness: { value: 0.5, detail: { claims: 2, supported: 1 } },
      hallucination_rate: { value: 0.5, detail: { unsupported: 1 } },
      answer_correctness: { value: 0.5, detail: { tp: 1, fp: 1, fn: 1, f1: 0.5 } },
      retrieval_quality: {
        value: 0.5,
        detail: { verdicts: [{ useful: false }, { useful: true }] },
      },
    });
    const before = asked.length;
    const again = await cli(['test', '-f', 'json', '--judge', 'recorded'], { cwd });
    expect(JSON.parse(again.stdout).judge).toMatchObject({ calls: 0 });
    expect(asked).toHaveLength(before);
    expect(again.code).toBe(0);
  });

  test('give no value when verdicts are missing twice', async () => {
    const server = await scriptedModel((request) => ({
      text: JSON.stringify(request).includes('Split the block')
        ? '{"statements": ["A.", "B."]}'
        : '{"verdicts": []}',
    }));
    const { code, stdout } = await cli(['test', '-f', 'json'], {
      cwd: project(TRACE, spec(server.url)),
      env,
    });
    expect(code).toBe(2);
    expect(JSON.parse(stdout).results[0].metrics.faithfulness).toMatchObject({
      value: null,
      detail: { judge_error: 'invalid', reason: expect.stringContaining('0 verdicts for 2') },
    });
  });
});

test.skipIf(process.platform !== 'linux')(
  'a local agent is monitored if a metric requires it',
  async () => {
    const agent = 'const end = Date.now() + 300; while (Date.now() < end); console.log("ok");';
    const spec = (metrics: string) =>
      `version: 1\nagent: a\nrunner: {command: [node, agent.js]}\nqueries: [{id: q, query: q, correctness: {expected_in_answer: [ok]}, metrics: ${metrics}}]\n`;
    const run = async (metrics: string) => {
      const cwd = tempDir({ 'agentci_spec.yaml': spec(metrics), 'agent.js': agent });
      const { code, stdout } = await cli(['test', '-f', 'json'], { cwd });
      expect(code).toBe(0);
      return JSON.parse(stdout).results[0].metrics;
    };
    const { resource_utilization } = await run('[resource_utilization]');
    expect(resource_utilization.detail.cpu.used_percent).toBeGreaterThan(0);
    expect(resource_utilization.detail.memory.used_gb).toBeGreaterThan(0);
  },
);

describe('agentci metrics', () => {
  test('lists every metric with layer, unit and needs', async () => {
    const { code, stdout } = await cli(['metrics', '--json'], { cwd: tempDir() });
    expect(code).toBe(0);
    const { metrics } = JSON.parse(stdout);
    expect(metrics).toHaveLength(31);
    expect(metrics).toContainEqual(
      expect.objectContaining({
        name: 'pii_leakage',
        layer: 'correctness',
        better: 'higher',
        unit: '0 to 1',
      }),
    );
    const text = (await cli(['metrics'], { cwd: tempDir() })).stdout;
    for (const { name, summary } of metrics)
      expect(text).toContain(`${name.padEnd(28)} ${summary}`);
  });
});

describe('a spec with a mistake in its metrics', () => {
  test.each([
    ['{faithfulnes: 0.5}', 'SPEC_VALUE', 'faithfulness'],
    ['{pii_leakage: {min: 1, formul: max}}', 'SPEC_UNKNOWN_KEY', 'formula'],
    ['{faithfulness: 90}', 'SPEC_VALUE', '0.9'],
    ['{cost: {min: 2, max: 1}}', 'SPEC_VALUE', 'above'],
    ['[cost, cost]', 'SPEC_DUPLICATE', 'twice'],
  ])('%s is found by validate', async (metrics, problem, says) => {
    const cwd = tempDir({
      'agentci_spec.yaml': `version: 1\nagent: a\nqueries:\n  - query: q\n    cost: {max_llm_calls: 1}\n    metrics: ${metrics}\n`,
    });
    const { code, stdout, stderr } = await cli(['validate', 'agentci_spec.yaml'], { cwd });
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toMatch(
      new RegExp(`agentci_spec.yaml:6:\\d+ ${problem}[\\s\\S]*${says}`),
    );
  });
});
