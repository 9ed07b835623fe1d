import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QueryResult, RunResult } from '@agentci/results';
import { listRuns, RunStore } from '@agentci/run';
import { parseSpec } from '@agentci/spec';
import { runOf } from '@agentci/testing/run-of';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { ioOf } from '../../test/support/io.ts';
import { runsRoot } from '../stored-runs/spec-folders.ts';
import { runTests } from './run-tests.ts';
import { newRunId } from './store-session.ts';
import type { TestOptions } from './test-options.ts';

const SPEC = `agent: demo
queries:
  - {id: a, query: a, tags: [smoke], correctness: {expected_in_answer: [ok]}}
  - {id: b, query: b, correctness: {expected_in_answer: [ok]}}
  - {id: c, query: c, correctness: {expected_in_answer: [ok]}}
`;
const records = (answers: Record<string, string>) =>
  Object.entries(answers)
    .map(([id, answer]) => JSON.stringify({ id, query: id, answer }))
    .join('\n');
const project = (files: Record<string, string> = {}) =>
  tempDir({ 'agentci_spec.yaml': SPEC, 't.jsonl': records({ a: 'ok', b: 'no' }), ...files });

async function go(
  cwd: string,
  given: Partial<TestOptions> = {},
  env: Record<string, string> = {},
  signal = new AbortController().signal,
) {
  // Specs and recordings are relative to the working directory.
  const before = process.cwd();
  process.chdir(cwd);
  try {
    const { io, written } = ioOf(cwd, {
      env: { PATH: process.env.PATH, ...env },
      now: Date.now,
      signal,
    });
    const options = { config: 'agentci_spec.yaml', format: ['json'], traces: 't.jsonl', ...given };
    const code = await runTests(options, io, 'test');
    return { code, ...written };
  } finally {
    process.chdir(before);
  }
}
const statuses = (stdout: string) =>
  (JSON.parse(stdout) as RunResult).results.map(({ id, status }) => `${id} ${status}`);

test('--failed judges failed and undecided queries, and reports an empty selection', async () => {
  const cwd = project();
  const traces = 't.jsonl';
  expect(statuses((await go(cwd, { traces })).stdout)).toEqual(['a pass', 'b fail', 'c error']);
  expect(statuses((await go(cwd, { traces, failed: true })).stdout)).toEqual(['b fail', 'c error']);
  expect(listRuns(runsRoot(cwd))[0]?.header.started_with).toEqual({
    traces,
    only: [{ id: 'b' }, { id: 'c' }],
  });
  // A run of other queries in between keeps the failures.
  await go(cwd, { traces, tags: ['smoke'] });
  expect(statuses((await go(cwd, { traces, failed: true })).stdout)).toEqual(['b fail', 'c error']);
});

test.each([
  {
    what: 'were renamed',
    change: (spec: string) => spec.replace('id: b', 'id: b2').replace('id: c', 'id: c2'),
  },
  { what: 'were renamed in part', change: (spec: string) => spec.replace('id: b', 'id: b2') },
  { what: 'are in a matrix now', change: (spec: string) => `matrix: {model: [x, y]}\n${spec}` },
])(
  '--failed refuses when cases that failed $what, until all were run again',
  async ({ change }) => {
    const cwd = project();
    await go(cwd);
    const file = join(cwd, 'agentci_spec.yaml');
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    const gone = { code: 'FAILED_GONE', message: expect.stringContaining('"b"') };
    await expect(go(cwd, { failed: true })).rejects.toMatchObject(gone);
    // A partial run keeps the other failures.
    await go(cwd, { tags: ['smoke'] });
    await expect(go(cwd, { failed: true })).rejects.toMatchObject(gone);
    await go(cwd);
    expect((await go(cwd, { failed: true })).code).toBeGreaterThan(0);
  },
);

test('--failed says when the last verdict on every query was good', async () => {
  const cwd = project();
  await go(cwd, { traces: 't.jsonl', tags: ['smoke'] });
  await expect(go(cwd, { traces: 't.jsonl', failed: true })).rejects.toMatchObject({
    code: 'NOTHING_FAILED',
  });
});

test.each([
  {
    what: 'a repeat that failed',
    entries: [
      ['b', 1, 'pass'],
      ['b', 2, 'fail'],
    ],
    failed: ['a', 'b', 'c'],
  },
  { what: 'repeats of which some are missing', entries: [['a', 1, 'pass']], failed: ['a', 'c'] },
  {
    what: 'a run that passed although a failure is expected',
    entries: [['c', 1, 'pass']],
    failed: ['a', 'c'],
  },
] as const)(
  '--failed knows what a killed run says of its queries: $what',
  async ({ entries, failed }) => {
    const spec = SPEC.replace('{id: c,', '{id: c, xfail: known,').replace(
      /id: [ab],/g,
      '$& runs: 2,',
    );
    const two = (id: string, answer: string) =>
      [1, 2].map(() => JSON.stringify({ id, query: id, answer }));
    const recorded = [
      ...two('a', 'no'),
      ...two('b', 'ok'),
      JSON.stringify({ id: 'c', query: 'c', answer: 'ok' }),
    ];
    const cwd = project({ 'agentci_spec.yaml': spec, 't.jsonl': recorded.join('\n') });
    expect(statuses((await go(cwd)).stdout)).toEqual(['a fail', 'b pass', 'c fail']);
    const hash = parseSpec(spec, { file: 'agentci_spec.yaml' }).suite!.hash;
    const about = {
      agent: 'demo',
      spec: { file: 'agentci_spec.yaml', hash },
      started_at: '',
      started_with: {},
    };
    const store = RunStore.create(runsRoot(cwd), {
      run_id: newRunId(new Date().toISOString(), 0),
      ...about,
    });
    for (const [id, run, status] of entries)
      store.record(
        {
          id,
          run,
          result: { ...runOf([]).results[0], id, query: id, status, tags: [] } as QueryResult,
        },
        undefined,
      );
    store.close();
    const again = await go(cwd, { failed: true });
    expect((JSON.parse(again.stdout) as RunResult).results.map(({ id }) => id)).toEqual(failed);
  },
);

test('--failed after a first run that was killed: what went wrong is run again, expected to fail or not', async () => {
  const spec = SPEC.replace(/id: ([ac]),/g, 'id: $1, xfail: known,').replace(
    /id: [ab],/g,
    '$& runs: 2,',
  );
  const cwd = project({ 'agentci_spec.yaml': spec });
  const hash = parseSpec(spec, { file: 'agentci_spec.yaml' }).suite!.hash;
  const about = {
    agent: 'demo',
    spec: { file: 'agentci_spec.yaml', hash },
    started_at: '',
    started_with: {},
  };
  const store = RunStore.create(runsRoot(cwd), {
    run_id: newRunId(new Date().toISOString(), 0),
    ...about,
  });
  for (const [id, status] of [
    ['a', 'pass'],
    ['b', 'fail'],
    ['c', 'fail'],
  ])
    store.record(
      {
        id: id!,
        run: 1,
        result: { ...runOf([]).results[0], id, query: id, status, tags: [] } as never,
      },
      undefined,
    );
  store.close();
  const { results } = JSON.parse((await go(cwd, { failed: true })).stdout) as RunResult;
  expect(results.map(({ id }) => id)).toEqual(['a', 'b']);
});

test('a run that does not say what it was started with is not continued', async () => {
  const cwd = project();
  const hash = parseSpec(SPEC, { file: 'agentci_spec.yaml' }).suite!.hash;
  const header = {
    run_id: 'old',
    agent: 'demo',
    spec: { file: 'agentci_spec.yaml', hash },
    started_at: '',
  };
  RunStore.create(runsRoot(cwd), header).close();
  await expect(go(cwd, { resume: true })).rejects.toMatchObject({ code: 'OPTIONS_CONFLICT' });
});

/** An unfinished run with some options. */
function unfinished(
  cwd: string,
  id: string,
  startedWith: object,
  file = 'agentci_spec.yaml',
): void {
  const hash = parseSpec(SPEC, { file: 'agentci_spec.yaml' }).suite!.hash;
  const header = {
    run_id: id,
    agent: 'demo',
    spec: { file, hash },
    started_at: '',
    started_with: { ...startedWith },
  };
  RunStore.create(runsRoot(cwd), header).close();
}

test.each([
  { what: 'its tags', startedWith: { tags: ['smoke'] }, ids: ['a pass'] },
  { what: 'its filter', startedWith: { filter: 'b' }, ids: ['b fail'] },
  { what: 'its ids', startedWith: { ids: ['b', 'c'] }, ids: ['b fail', 'c error'] },
  {
    what: 'queries that had failed then',
    startedWith: { only: [{ id: 'b' }, { id: 'c' }] },
    ids: ['b fail', 'c error'],
  },
  {
    what: 'those of its ids that had failed',
    startedWith: { ids: ['b'], only: [{ id: 'b' }, { id: 'c' }] },
    ids: ['b fail'],
  },
])('--resume goes on with $what', async ({ startedWith, ids }) => {
  const cwd = project();
  unfinished(cwd, 'r1', { ...startedWith, traces: 't.jsonl' });
  expect(statuses((await go(cwd, { resume: true })).stdout)).toEqual(ids);
  expect(listRuns(runsRoot(cwd))).toMatchObject([{ id: 'r1', finished: true }]);
});

test.each([
  { what: 'other tags', given: { tags: ['other'] } },
  { what: 'a filter', given: { filter: 'b' } },
  { what: 'a number of runs', given: { runs: 2 } },
  { what: 'ids', given: { ids: ['a'] } },
  { what: 'failed queries', given: { failed: true } },
  { what: 'queries that failed elsewhere', given: { failedFrom: 'merged' } },
  { what: 'cassettes', given: { cassette: { mode: 'replay' as const } } },
  { what: 'another judge', given: { judge: 'off' as const } },
  { what: 'another baseline', given: { baseline: 'v2' } },
  { what: 'another seed', given: { seed: 3 } },
  { what: 'another share of the ensemble', given: { sampleEnsemble: 0.5 } },
  { what: 'other stored verdicts', given: { judgeCache: 'elsewhere' } },
  { what: 'an audit of users', given: { auditUser: true } },
])('--resume with $what would mix two runs in one', async ({ given }) => {
  const cwd = project();
  unfinished(cwd, 'r1', { tags: ['smoke'], traces: 't.jsonl' });
  await expect(go(cwd, { resume: true, ...given })).rejects.toMatchObject({
    code: 'OPTIONS_CONFLICT',
  });
});

describe('an option that a run was started with counts when it is continued', () => {
  /** Its only check is a warning. */
  const warned = SPEC.replace(/correctness: .*\]\}/g, 'cost: {max_llm_calls: 0}').replaceAll(
    '  - {id: c',
    '# {id: c',
  );
  const live = { traces: undefined } as unknown as Partial<TestOptions>;
  const hashOf = (text: string) => parseSpec(text, { file: 'agentci_spec.yaml' }).suite!.hash;
  const start = (
    cwd: string,
    text: string,
    startedWith: object,
    results: QueryResult[] = [],
  ): void => {
    const about = {
      agent: 'demo',
      spec: { file: 'agentci_spec.yaml', hash: hashOf(text) },
      started_at: '',
    };
    const store = RunStore.create(runsRoot(cwd), {
      run_id: 'r1',
      ...about,
      started_with: { ...startedWith },
    });
    for (const result of results) store.record({ id: result.id, run: 1, result }, undefined);
    store.close();
  };
  const warnings = () =>
    project({
      'agentci_spec.yaml': warned,
      't.jsonl': ['a', 'b']
        .map((id) =>
          JSON.stringify({
            id,
            query: id,
            answer: 'ok',
            llm_calls: 3,
            steps: [{ type: 'llm', output: 'x' }],
          }),
        )
        .join('\n'),
    });
  const stored = (cwd: string) =>
    listRuns(runsRoot(cwd)).find(({ id }) => id === 'r1')?.header.started_with;

  test.each([
    { startedWith: { strict: true }, given: {}, code: 1 },
    { startedWith: {}, given: { strict: true }, code: 1 },
    { startedWith: {}, given: {}, code: 0 },
  ])(
    '--strict: $startedWith, continued with $given, exits $code',
    async ({ startedWith, given, code }) => {
      const cwd = warnings();
      start(cwd, warned, { ...startedWith, traces: 't.jsonl' });
      const again = await go(cwd, { resume: true, ...given });
      expect([again.code, statuses(again.stdout)]).toEqual([code, ['a warn', 'b warn']]);
    },
  );

  test('the last values are stored for the next time', async () => {
    const cwd = warnings();
    start(cwd, warned, { traces: 't.jsonl', timeout: 500 });
    const stop = new AbortController();
    stop.abort();
    await expect(
      go(cwd, { resume: true, strict: true, timeout: 700 }, {}, stop.signal),
    ).rejects.toThrow('aborted');
    expect(stored(cwd)).toEqual({ traces: 't.jsonl', strict: true, timeout: 700 });
    expect((await go(cwd, { resume: true })).code).toBe(1);
  });

  test('--timeout and --retries', async () => {
    const spec = `${SPEC}runner: {command: [sleep, "60"]}\n`;
    const cwd = project({ 'agentci_spec.yaml': spec });
    start(cwd, spec, { timeout: 300, retries: 0 });
    const { stdout } = await go(cwd, { ...live, resume: true });
    expect((JSON.parse(stdout) as RunResult).results).toMatchObject(
      Array(3).fill({ error: { kind: 'infra', message: '[INFRA] no answer within 300 ms' } }),
    );
  });

  const spec = `${SPEC}runner: {module: ./agent.mjs}\n`;
  const agent = {
    'agentci_spec.yaml': spec,
    'agent.mjs': "export default () => ({ answer: 'ok', cost_usd: 1 });\n",
  };
  const done = (status: 'pass' | 'fail', cost: number): QueryResult => {
    const [one] = runOf([{ id: 'a', status }]).results;
    return { ...one!, cost: { ...one!.cost, details: { actual: { cost_usd: cost } } } };
  };

  test('--fail-fast counts earlier failures', async () => {
    const cwd = project(agent);
    start(cwd, spec, { failFast: true }, [done('fail', 0)]);
    const { code, stdout } = await go(cwd, { ...live, resume: true });
    expect([code, statuses(stdout)]).toEqual([1, ['a fail', 'b skip', 'c skip']]);
  });

  test('--max-cost counts earlier cost', async () => {
    const cwd = project(agent);
    start(cwd, spec, { maxCost: 2.5, workers: 1 }, [done('pass', 2)]);
    const { code, stdout } = await go(cwd, { ...live, resume: true });
    expect([code, statuses(stdout)]).toEqual([2, ['a pass', 'b pass', 'c error']]);
  });

  test('reports a missing baseline folder', async () => {
    const cwd = project();
    start(cwd, SPEC, { traces: 't.jsonl', baselineDir: 'gone' });
    await expect(go(cwd, { resume: true })).rejects.toMatchObject({ code: 'FILE_MISSING' });
  });
});

test.each([
  { what: 'of another spec', make: (cwd: string) => unfinished(cwd, 'r1', {}, 'other.yaml') },
  {
    what: 'that is finished',
    make: (cwd: string) => {
      unfinished(cwd, 'r1', {});
      RunStore.reopen(runsRoot(cwd), 'r1').store.finish(runOf([]));
    },
  },
])('--resume does not go on with a run $what', async ({ make }) => {
  const cwd = project();
  make(cwd);
  await expect(go(cwd, { resume: true })).rejects.toMatchObject({ code: 'RESUME_REFUSED' });
});

test('how to run the rest again is a line that can be pasted into a shell', async () => {
  const cwd = tempDir({ "it's.jsonl": records({ a: 'no' }), 'my spec.yaml': SPEC });
  const given = {
    config: 'my spec.yaml',
    traces: "it's.jsonl",
    judge: 'off',
    strict: true,
    format: ['console'],
  } as const;
  expect((await go(cwd, given)).stdout).toContain(
    `run only these again: agentci test -c 'my spec.yaml' --traces 'it'\\''s.jsonl' --judge off --strict --failed\n`,
  );
});

test.each<{ what: string; given: Partial<TestOptions>; results: Partial<QueryResult>[] }>([
  {
    what: '--timeout and --retries',
    given: { timeout: 300, retries: 0 },
    results: Array(3).fill({
      error: { kind: 'infra', message: '[INFRA] no answer within 300 ms' },
    }),
  },
  {
    what: '--fail-fast',
    given: { timeout: 300, retries: 0, failFast: true, workers: 1 },
    results: [{ status: 'error' }, { status: 'skip' }, { status: 'skip' }],
  },
])('$what reach the run', async ({ given, results }) => {
  const cwd = project({ 'agentci_spec.yaml': `${SPEC}runner: {command: [sleep, "60"]}\n` });
  const { stdout } = await go(cwd, { traces: undefined, ...given } as Partial<TestOptions>);
  expect((JSON.parse(stdout) as RunResult).results).toMatchObject(results);
});

test('a read-only folder is reported once, and the verdict stands', async () => {
  const cwd = project({ '.agentci': 'a file where the folder would be' });
  const { code, stderr } = await go(cwd);
  expect(code).toBe(1);
  expect(stderr.match(/the run is not stored/g)).toHaveLength(1);
});

test.each([
  { strict: false, code: 0 },
  { strict: true, code: 2 },
])('a passing run that cannot be stored exits $code with strict: $strict', async (one) => {
  const cwd = project({
    '.agentci': 'a file in place of the folder',
    'agentci_spec.yaml':
      'agent: x\nqueries: [{id: a, query: q, correctness: {expected_in_answer: [ok]}}]\n',
    'ok.jsonl': '{"id":"a","query":"q","answer":"ok"}\n',
  });
  expect((await go(cwd, { traces: 'ok.jsonl', strict: one.strict })).code).toBe(one.code);
});

test.each([{ quiet: false }, { quiet: true }])(
  'warnings about the spec are shown unless --quiet: $quiet',
  async ({ quiet }) => {
    const cwd = project({ 'agentci_spec.yaml': `${SPEC}  - {id: d, query: d}\n` });
    const { stderr } = await go(cwd, { quiet });
    expect(stderr.includes('SPEC_NO_CHECKS')).toBe(!quiet);
  },
);

test('warnings that GitHub would not show go into the step summary', async () => {
  const ids = Array.from({ length: 11 }, (_, i) => `q${i}`);
  const cwd = project({
    'agentci_spec.yaml': `agent: demo\nqueries:\n${ids.map((id) => `  - {id: ${id}, query: ${id}, path: {expected_tools: [x]}}\n`).join('')}`,
    't.jsonl': ids
      .map((id) => JSON.stringify({ id, query: id, answer: 'ok', tool_calls: [] }))
      .join('\n'),
    'summary.md': 'before\n',
  });
  const summary = join(cwd, 'summary.md');
  const { code } = await go(cwd, { format: ['github'] }, { GITHUB_STEP_SUMMARY: summary });
  expect(code).toBe(0);
  expect(readFileSync(summary, 'utf8')).toMatch(
    /^before\n### AgentCI: further warnings\n[\s\S]*q10/,
  );
});
