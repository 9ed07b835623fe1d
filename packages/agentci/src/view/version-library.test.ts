import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Cell } from '@agentci/results';
import { baselinePath, diffVersions, RunStore } from '@agentci/run';
import { loadSpec } from '@agentci/spec';
import { checkOf, runOf } from '@agentci/testing/run-of';
import { tempDir } from '@agentci/testing/temp-dir';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import type { Io } from '../cli/io.ts';
import { RunLibrary } from './run-library.ts';
import { versionLibrary } from './version-library.ts';

const SPEC = `agent: bot
queries:
  - {id: refund, query: 'Refund order 1?', correctness: {expected_in_answer: [refunded]}}
  - {id: hours, query: 'When are you open?', correctness: {expected_in_answer: [nine]}}
`;

interface Saved {
  readonly version: string;
  readonly id: string;
  readonly query: string;
  readonly answer: string;
  readonly tools?: readonly string[];
  readonly cell?: Cell;
  readonly cost?: number;
}

function save(
  cwd: string,
  { version, id, query, answer, tools = [], cell, cost = 0.01 }: Saved,
): void {
  const file = baselinePath({
    dir: join(cwd, 'baselines'),
    agent: 'bot',
    version,
    queryId: id,
    cell,
  });
  mkdirSync(dirname(file), { recursive: true });
  const trace = simpleTrace({
    query,
    answer,
    tool_calls: tools.map((name) => ({ name })),
    cost_usd: cost,
  });
  const captured_at = `2026-11-1${version.at(-1)}T09:00:00Z`;
  const told = {
    version,
    agent: 'bot',
    query,
    query_id: id,
    ...(cell ? { cell } : {}),
    captured_at,
    metadata: {},
    trace,
  };
  writeFileSync(file, JSON.stringify({ schema: 'agentci.baseline/1', ...told }));
}

function project(spec = SPEC, files: Record<string, string> = {}) {
  const cwd = tempDir({ 'agentci_spec.yaml': spec, ...files });
  const io = { cwd: process.cwd(), env: {} } as unknown as Io;
  const root = join(cwd, '.agentci', 'runs');
  return {
    cwd,
    root,
    library: new RunLibrary(root, cwd, versionLibrary(join(cwd, 'agentci_spec.yaml'), io)),
  };
}

const refund = { id: 'refund', query: 'Refund order 1?' };
const hours = { id: 'hours', query: 'When are you open?' };

function twoVersions(cwd: string): void {
  save(cwd, { version: 'v1', ...refund, answer: 'It is refunded.', tools: ['lookup', 'refund'] });
  save(cwd, { version: 'v1', ...hours, answer: 'From nine.' });
  save(cwd, {
    version: 'v2',
    ...refund,
    answer: 'Ask a colleague.',
    tools: ['lookup'],
    cost: 0.02,
  });
  save(cwd, { version: 'v2', ...hours, answer: 'From nine.' });
}

const V1 = 'baseline:bot/v1';
const V2 = 'baseline:bot/v2';

describe('baseline versions as sides', () => {
  test('are listed, the newest first', async () => {
    const { cwd, library } = project();
    twoVersions(cwd);
    expect(await library.versions()).toEqual([
      { id: V2, agent: 'bot', version: 'v2', queries: 2, captured_at: '2026-11-12T09:00:00Z' },
      { id: V1, agent: 'bot', version: 'v1', queries: 2, captured_at: '2026-11-11T09:00:00Z' },
    ]);
  });

  test('two of them get the verdict, the headline and the numbers that diff gives them', async () => {
    const { cwd, library } = project();
    twoVersions(cwd);
    const page = (await library.compare(V1, V2))!;
    expect(page).toMatchObject({
      run_id: V1,
      name: 'baseline v1',
      after: { id: V2, name: 'baseline v2' },
      comparison: { flips: [{ id: 'refund', before: 'pass', after: 'fail' }], verdict: 'worse' },
    });
    const { suite } = await loadSpec(join(cwd, 'agentci_spec.yaml'));
    const dir = join(cwd, 'baselines');
    const report = await diffVersions({
      suite,
      agent: 'bot',
      dir,
      baseline: 'v1',
      compare: 'v2',
      judge: 'recorded',
    });
    expect(report).toMatchObject({
      verdict: page.comparison.verdict,
      headline: page.comparison.headline,
    });
    expect(report.comparison).toEqual(page.comparison.metrics);
    expect(page.after!.queries.find(([id]) => id === 'refund')![1]).toEqual({
      query: refund.query,
      status: 'fail',
      answer: 'Ask a colleague.',
      tools: ['lookup'],
      reason: expect.stringContaining('refunded'),
      cost_usd: 0.02,
      total_tokens: null,
      latency_ms: null,
    });
  });

  test('one of them is compared with a run, which keeps its own verdicts', async () => {
    const { cwd, root, library } = project();
    twoVersions(cwd);
    const run = runOf(
      [{ id: 'refund', status: 'fail', correctness: [checkOf('correctness.x', 'fail')] }],
      {
        run_id: 'r1',
        agent: 'bot',
      },
    );
    RunStore.create(root, {
      run_id: 'r1',
      agent: 'bot',
      spec: run.spec,
      started_at: '2026-11-15T21:40:12.345Z',
    }).finish(run);
    const page = (await library.compare(V1, 'r1'))!;
    expect(page.after).toBeUndefined();
    expect(page.comparison).toMatchObject({
      flips: [{ id: 'refund', before: 'pass', after: 'fail' }],
      only_before: ['hours'],
    });
    // The run used a spec with a different hash.
    expect(page.notices).toEqual([
      expect.stringContaining('run r1 was judged by another state of the spec'),
    ]);
    expect(await library.compare('r1', V2)).toMatchObject({ run_id: 'r1', after: { id: V2 } });
  });

  test.each(['baseline:bot/v9', 'baseline:bot/../../x', 'baseline:', 'r9'])(
    '%s is nothing to compare',
    async (id) => {
      const { cwd, library } = project();
      twoVersions(cwd);
      expect(await library.compare(V1, id)).toBeUndefined();
    },
  );

  test('cells of a matrix are paired with themselves, here and in diff', async () => {
    const spec = `agent: bot
matrix: {model: [a, b]}
queries:
  - {id: refund, query: 'Refund order 1?', correctness: {expected_in_answer: [refunded]}}
`;
    const { cwd, library } = project(spec);
    for (const [version, bad] of [
      ['v1', 'a'],
      ['v2', 'b'],
    ] as const)
      for (const model of ['a', 'b'])
        save(cwd, {
          version,
          ...refund,
          cell: { model },
          answer: model === bad ? 'No.' : 'It is refunded.',
        });
    const flips = [
      { id: 'refund (model=a)', before: 'fail', after: 'pass' },
      { id: 'refund (model=b)', before: 'pass', after: 'fail' },
    ];
    expect((await library.compare(V1, V2))?.comparison.flips).toEqual(flips);
    const { suite } = await loadSpec(join(cwd, 'agentci_spec.yaml'));
    const report = await diffVersions({
      suite,
      agent: 'bot',
      dir: join(cwd, 'baselines'),
      baseline: 'v1',
      compare: 'v2',
    });
    expect(
      report.queries.map(({ id, verdict: { before, after } }) => ({ id, before, after })),
    ).toEqual(flips);
  });
});

describe('a verdict that cannot be had is not made up', () => {
  const cases = [
    {
      what: 'a rubric on which no verdict is stored',
      spec: SPEC.replace('expected_in_answer: [refunded]', 'llm_judge: [{rule: is it polite}]'),
      status: 'error',
      reason: /no verdict .* is stored/,
    },
    {
      what: 'a check that is code of the user',
      spec: SPEC.replace('expected_in_answer: [refunded]', 'code: {command: [touch, was-run]}'),
      status: 'skip',
      reason: /code of your own/,
    },
    {
      what: 'a metric that is code of the user',
      spec: SPEC.replace('agent: bot', 'agent: bot\nuse: [./tone.mjs]').replace(
        'correctness: {expected_in_answer: [refunded]}',
        'metrics: [tone]',
      ),
      status: 'skip',
      reason: /code of your own/,
    },
    {
      what: 'a question that the spec asks otherwise now',
      spec: SPEC.replace('Refund order 1?', 'Refund order 2?'),
      status: 'skip',
      reason: /another question/,
    },
    {
      what: 'a query that the spec has no longer',
      spec: SPEC.replace('refund,', 'refunds,').replace('order 1', 'order 3'),
      status: 'skip',
      reason: /no such query/,
    },
    { what: 'a spec that cannot be read', spec: 'agent: [', status: 'skip', reason: /no spec/ },
  ];
  test.each(cases)('$what', async ({ spec, status, reason }) => {
    const tone = `import { writeFileSync } from 'node:fs';
writeFileSync(new URL('was-run', import.meta.url), '');
export const tone = { name: 'tone', evaluate: () => ({ name: 'tone', value: 1, detail: {} }) };
`;
    const { cwd, library } = project(spec, { 'tone.mjs': tone });
    twoVersions(cwd);
    const page = (await library.compare(V1, V2))!;
    expect(page.queries.find(([id]) => id === 'refund')![1]).toMatchObject({
      status,
      reason: expect.stringMatching(reason),
      answer: 'It is refunded.',
      cost_usd: 0.01,
    });
    expect(page.comparison.flips).toEqual([]);
    expect(page.comparison.undecided).toContain('refund');
    expect(page.notices?.join('\n')).toMatch(/could not be judged here/);
    expect(existsSync(join(cwd, 'was-run'))).toBe(false);
  });

  test('a damaged file of the version is named, and the others are compared', async () => {
    const { cwd, library } = project();
    twoVersions(cwd);
    writeFileSync(join(cwd, 'baselines/bot/v1/hours.json'), '{');
    const page = (await library.compare(V1, V2))!;
    expect(page.notices?.join('\n')).toMatch(/hours\.json is not JSON/);
    expect(page.comparison).toMatchObject({ flips: [{ id: 'refund' }], only_after: ['hours'] });
  });
});
