import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Suite } from '@agentci/spec';
import { parseSpec } from '@agentci/spec';
import { describeOutside } from '@agentci/testing/outside';
import { tempDir } from '@agentci/testing/temp-dir';
import vectors from '@agentci/testing/vectors/baseline.json' with { type: 'json' };
import { finalText, simpleTrace, toolNames, totals } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { listBaselines, loadBaseline, saveBaseline } from './save-baseline.ts';

const suiteOf = (text: string): Suite => parseSpec(text, { file: 'agentci_spec.yaml' }).suite!;
const suite = suiteOf(`version: 1
agent: Support Router
baseline: v0
queries:
  - id: refund
    query: I want my money back
    runs: 3
    xfail: known
    correctness:
      expected_in_answer: [refund]
      llm_judge: [{template: polite_refusal}, {rule: names the deadline}]
      safety_check: {rule: no insults}
  - id: other
    query: Something else
`);
const trace = simpleTrace({
  query: 'I want my money back',
  answer: 'Your refund is on its way',
  tool_calls: [{ name: 'refund', args: { zeta: 1, alpha: 2 } }],
  llm_calls: [{ model: 'big' }, { model: 'small' }, { model: 'small' }],
});
const at = () => Date.UTC(2026, 1, 26, 14, 30);
const judgeSaying = (score: number) => ({
  ask: async () => ({
    score,
    label: score < 3 ? ('fail' as const) : ('pass' as const),
    rationale: 'as told',
  }),
});
const save = (dir: string, rest: object = {}) =>
  saveBaseline({
    trace,
    suite,
    version: 'v1',
    queryId: 'refund',
    dir,
    now: at,
    judge: judgeSaying(5),
    ...rest,
  });

describe('saving', () => {
  test('the file says what it is, in an order that reads well, and is the same every time', async () => {
    const [one, two] = [tempDir(), tempDir()];
    const { file, baseline } = await save(one);
    // The agent's name is not a valid folder name and is converted.
    expect(file).toMatch(/Support-Router-[0-9a-f]{6}[\\/]v1[\\/]refund\.json$/);
    const text = readFileSync(file, 'utf8');
    expect(readFileSync((await save(two)).file, 'utf8')).toBe(text);
    const content = JSON.parse(text);
    expect(Object.keys(content)).toEqual([
      'schema',
      'version',
      'agent',
      'query',
      'query_id',
      'captured_at',
      'metadata',
      'trace',
    ]);
    expect(Object.keys(content.metadata)).toEqual([
      'model',
      'spec_hash',
      'judge_rubric_ids',
      'precheck_passed',
      'forced',
    ]);
    expect(content).toMatchObject({
      schema: 'agentci.baseline/1',
      agent: 'Support Router',
      query: 'I want my money back',
      query_id: 'refund',
      captured_at: '2026-02-26T14:30:00.000Z',
      metadata: {
        model: 'small',
        spec_hash: suite.hash,
        judge_rubric_ids: ['polite_refusal', 'llm_judge[1]', 'safety_check'],
        precheck_passed: true,
        forced: false,
      },
    });
    expect(baseline.metadata).toEqual(content.metadata);
    expect(text).toContain('"alpha": 2,\n          "zeta": 1');
  });

  test('the local path of a trace is not stored', async () => {
    const { file } = await save(tempDir(), {
      trace: { ...trace, source: { ...trace.source, file: '/home/me/secret.jsonl', line: 3 } },
    });
    expect(readFileSync(file, 'utf8')).not.toContain('secret.jsonl');
  });

  test('the order of keys in a trace does not matter, those of objects least of all', async () => {
    const turned = {
      ...trace,
      steps: trace.steps.map((step) => Object.fromEntries(Object.entries(step).reverse())),
    };
    const a = readFileSync((await save(tempDir())).file, 'utf8');
    expect(readFileSync((await save(tempDir(), { trace: turned })).file, 'utf8')).toBe(a);
  });

  test.each([
    { what: 'fails its checks', trace: simpleTrace({ answer: 'no' }), code: 'PRECHECK_FAILED' },
    {
      what: 'has no answer',
      trace: simpleTrace({ tool_calls: [{ name: 'x' }] }),
      code: 'PRECHECK_UNDECIDED',
    },
    {
      what: 'says that the run failed',
      trace: { ...trace, status: 'error' as const },
      code: 'PRECHECK_UNDECIDED',
    },
  ])('a trace that $what is refused, and saved if forced', async ({ trace: bad, code }) => {
    const dir = tempDir();
    await expect(save(dir, { trace: bad })).rejects.toMatchObject({ code });
    expect(listBaselines({ dir })).toEqual([]);
    const { baseline } = await save(dir, { trace: bad, force: true });
    expect(baseline.metadata).toMatchObject({ precheck_passed: false, forced: true });
  });

  test('a forced save is marked as forced, even if the precheck passed', async () => {
    const { baseline, precheck } = await save(tempDir(), { force: true });
    expect(precheck.status).toBe('passed');
    expect(baseline.metadata).toMatchObject({ precheck_passed: false, forced: true });
  });

  test.each([
    { what: 'a rubric that the judge fails', judge: judgeSaying(1), code: 'PRECHECK_FAILED' },
    { what: 'a rubric and the judge off', judge: 'off', code: 'PRECHECK_UNDECIDED' },
    { what: 'a rubric without a stored verdict', judge: 'recorded', code: 'PRECHECK_UNDECIDED' },
    { what: 'a rubric and no key', judge: 'live', code: 'PRECHECK_UNDECIDED' },
  ])('$what: $code', async ({ judge, code }) => {
    const only = suiteOf(`version: 1
agent: a
queries: [{id: refund, query: q, correctness: {llm_judge: [{rule: names the deadline}]}}]`);
    const dir = tempDir();
    const input = { dir, suite: only, judge, judgeCacheDir: join(dir, 'cache'), env: {} };
    await expect(save(dir, input)).rejects.toMatchObject({
      code,
      hint: expect.stringContaining('--force-save'),
    });
    expect(listBaselines({ dir })).toEqual([]);
  });

  test.each([
    {
      what: 'a forbidden tool',
      checks: 'path: {forbidden_tools: [ref*]}',
      code: 'PRECHECK_FAILED',
    },
    {
      what: 'a sequence rule',
      checks: 'path: {rules: [{type: require, tool: verify}]}',
      code: 'PRECHECK_FAILED',
    },
    {
      what: 'a policy',
      checks: 'policy: {version: "2.0", name: p, tools: {deny: [refund]}}',
      code: 'PRECHECK_FAILED',
    },
    {
      what: 'a metric bound',
      checks: 'metrics: [{cost: {max: 0.1, severity: fail}}]',
      code: 'PRECHECK_UNDECIDED',
    },
    {
      what: 'a limit on uncaptured data',
      checks: 'path: {max_handoff_count: 1}',
      code: 'PRECHECK_UNDECIDED',
    },
  ])('$what outside correctness refuses too: $code', async ({ checks, code }) => {
    const only = suiteOf(`version: 1\nagent: a\nqueries: [{id: refund, query: q, ${checks}}]`);
    const rest = {
      suite: only,
      trace: simpleTrace({ query: 'q', answer: 'x', tool_calls: [{ name: 'refund' }] }),
    };
    await expect(save(tempDir(), rest)).rejects.toMatchObject({ code });
  });

  test('a query without checks proves nothing: precheck_passed is null', async () => {
    const { baseline, precheck } = await save(tempDir(), { queryId: 'other' });
    expect(precheck.status).toBe('unchecked');
    expect(baseline.metadata).toMatchObject({ precheck_passed: null, forced: false });
  });

  test('a warning refuses nothing', async () => {
    const only = suiteOf(
      `version: 1\nagent: a\nqueries: [{id: refund, query: q, path: {max_tool_calls: 0}}]`,
    );
    const { baseline } = await save(tempDir(), { suite: only });
    expect(baseline.metadata).toMatchObject({ precheck_passed: true, forced: false });
  });

  test('an existing baseline stays unless it is to be replaced', async () => {
    const dir = tempDir();
    await save(dir);
    await expect(save(dir, { force: true })).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    await expect(save(dir, { overwrite: true })).resolves.toBeDefined();
    await expect(save(dir, { queryId: 'other' })).resolves.toBeDefined();
    await expect(save(dir, { version: 'v2' })).resolves.toBeDefined();
    expect(listBaselines({ dir }).map(({ version, query_id }) => [version, query_id])).toEqual([
      ['v1', 'other'],
      ['v1', 'refund'],
      ['v2', 'refund'],
    ]);
  });

  test.each([
    {
      what: 'a version that leaves the folder',
      rest: { version: '../up' },
      code: 'OPTION_INVALID',
    },
    { what: 'an unknown query', rest: { queryId: 'nope' }, code: 'OPTION_INVALID' },
  ])('$what is refused', async ({ rest, code }) => {
    await expect(save(tempDir(), rest)).rejects.toMatchObject({ code });
  });
});

describe('loading', () => {
  test('a saved baseline can be loaded', async () => {
    const dir = tempDir();
    await save(dir);
    const found = await loadBaseline({
      dir,
      agent: 'Support Router',
      version: 'v1',
      queryId: 'refund',
    });
    expect(found).toMatchObject({ version: 'v1', query_id: 'refund' });
    expect(finalText(found.trace)).toBe('Your refund is on its way');
    expect(toolNames(found.trace)).toEqual(['refund']);
  });

  test.each([
    { what: 'a version that is not there', place: { version: 'v9', queryId: 'refund' } },
    { what: 'a query that is not there', place: { version: 'v1', queryId: 'other' } },
  ])('$what is reported', async ({ place }) => {
    const dir = tempDir();
    await save(dir);
    await expect(loadBaseline({ dir, agent: 'Support Router', ...place })).rejects.toMatchObject({
      code: 'BASELINE_MISSING',
    });
  });

  const oneFile = (content: object) => tempDir({ 'bot/v1.json': content });
  test("the plan's one-file form is read too", async () => {
    const dir = oneFile({
      version: 'v1',
      agent: 'bot',
      captured_at: '2026-02-26T14:30:00Z',
      query: 'q',
      metadata: { precheck_passed: true },
      trace: { answer: 'yes', tool_calls: [] },
    });
    expect(await loadBaseline({ dir, agent: 'bot', version: 'v1', queryId: 'any' })).toMatchObject({
      query: 'q',
      metadata: { precheck_passed: true },
      trace: { final: { text: 'yes' } },
    });
  });

  test.each([
    {
      what: 'a newer schema',
      content: { schema: 'agentci.baseline/2', version: 'v1', agent: 'bot', query: 'q', trace: {} },
      code: 'BASELINE_TOO_NEW',
    },
    { what: 'a list', content: [1], code: 'BASELINE_UNREADABLE' },
    {
      what: 'no trace',
      content: { version: 'v1', agent: 'bot', query: 'q' },
      code: 'BASELINE_UNREADABLE',
    },
  ])('$what is refused by name', ({ content, code }) => {
    expect(() => listBaselines({ dir: oneFile(content), agent: 'bot' })).toThrowError(
      expect.objectContaining({ code }),
    );
  });

  test('a file with invalid JSON is refused by name', () => {
    const dir = oneFile({});
    writeFileSync(join(dir, 'bot/v1.json'), 'null');
    expect(() => listBaselines({ dir })).toThrowError(
      expect.objectContaining({ code: 'BASELINE_UNREADABLE' }),
    );
    writeFileSync(join(dir, 'bot/v1.json'), '{');
    expect(() => listBaselines({ dir })).toThrowError(
      expect.objectContaining({ code: 'BASELINE_UNREADABLE' }),
    );
  });
});

describe('vectors', () => {
  test('a file newer than we know is refused with its version', () => {
    const row = vectors.find(({ id }) => id === 'acb-norm-03')!;
    const dir = tempDir({ 'bot/v1.json': row.input });
    expect(() => listBaselines({ dir, agent: 'bot' })).toThrowError(
      expect.objectContaining({ code: 'BASELINE_TOO_NEW', message: expect.stringContaining('3') }),
    );
  });
});

/** The content of a baseline of the original program, in the terms of its vector. */
async function loadLegacy(dir: string) {
  const found = await loadBaseline({ dir, agent: 'legacy-agent', version: 'v1' });
  return {
    agent: found.agent,
    version: found.version,
    query: found.query,
    precheck_passed: found.metadata.precheck_passed,
    answer: finalText(found.trace),
    tool_names: toolNames(found.trace),
    total_tokens: totals(found.trace).totalTokens,
  };
}

test('a baseline in the one-file form of the original program is read', async () => {
  const call = {
    tool_name: 'search_kb',
    arguments: { query: 'returns?' },
    result: '30 days',
    error: null,
  };
  const llm = { model: 'mock-model', prompt: 'p', response: 'r', tokens_in: 200, tokens_out: 100 };
  const span = {
    span_id: 'b1db2922c8b14208',
    parent_span_id: null,
    kind: 'agent',
    name: 'mock-agent',
    input_data: null,
    output_data: '30 days.',
    stop_reason: null,
    graph_state: {},
    tool_calls: [call],
    llm_calls: [llm],
  };
  const file = {
    version: 'v1',
    agent: 'legacy-agent',
    captured_at: '2026-04-10T18:00:00+00:00',
    query: 'returns?',
    metadata: { model: 'mock-model', spec_hash: 'sha256:deadbeef', precheck_passed: true },
    trace: {
      trace_id: '3ba00441065445e6',
      created_at: '2026-07-06T22:12:47.691384Z',
      spans: [span],
    },
  };
  expect(await loadLegacy(tempDir({ 'legacy-agent/v1.json': JSON.stringify(file) }))).toEqual({
    agent: 'legacy-agent',
    version: 'v1',
    query: 'returns?',
    precheck_passed: true,
    answer: '30 days.',
    tool_names: ['search_kb'],
    total_tokens: { exact: true, value: 300 },
  });
});

describeOutside('a baseline of the original program', 'traces/agentci-upstream', (folder) => {
  test('acb-norm-01', async () => {
    const { expected } = vectors.find(({ id }) => id === 'acb-norm-01')!;
    const dir = tempDir();
    mkdirSync(join(dir, 'legacy-agent'));
    copyFileSync(join(folder, 'v1-legacy-wrapper.json'), join(dir, 'legacy-agent', 'v1.json'));
    expect(await loadLegacy(dir)).toEqual({
      ...expected,
      total_tokens: { exact: true, value: 300 },
    });
  });
});
