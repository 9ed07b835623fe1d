import type { Suite } from '@agentci/spec';
import { parseSpec } from '@agentci/spec';
import { tempDir } from '@agentci/testing/temp-dir';
import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import type { RunOptions } from './run-options.ts';
import { runSuite } from './run-suite.ts';

/** A suite from YAML. `dir` is an empty folder, so that no baseline is found by accident. */
function suiteOf(queries: string, { dir = tempDir(), head = '' } = {}): Suite {
  const text = `version: 1\nagent: demo\n${head}queries:\n${queries.replace(/^\n/, '')}`;
  const { suite, diagnostics } = parseSpec(text, { file: 'agentci_spec.yaml' });
  if (!suite) throw new Error(JSON.stringify(diagnostics));
  return { ...suite, dir };
}

const one = '  - {id: a, query: q1, correctness: {expected_in_answer: [ok]}}\n';
const two = `${one}  - {id: b, query: q2, correctness: {expected_in_answer: [ok]}}\n`;
const run = (options: Partial<RunOptions> & { suite: Suite }) =>
  runSuite({ retries: 0, ...options });
const statuses = (result: { results: { id: string; status: string }[] }) =>
  Object.fromEntries(result.results.map(({ id, status }) => [id, status]));

describe('running an agent', () => {
  test('a crashed agent is one error result, the rest is unharmed, and the exit code is 2', async () => {
    const result = await run({
      suite: suiteOf(two),
      runner: (query) => (query === 'q2' ? Promise.reject(new Error('boom')) : 'ok'),
    });
    expect(statuses(result)).toEqual({ a: 'pass', b: 'error' });
    expect(result.results[1]?.error).toMatchObject({
      kind: 'agent',
      message: expect.stringContaining('boom'),
    });
    expect(result.summary.exit_code).toBe(2);
  });

  test('results are in spec order for any order of completion', async () => {
    const delays: Record<string, number> = { q1: 60, q2: 1 };
    const finished: string[] = [];
    const result = await run({
      suite: suiteOf(two),
      runner: async (query) => {
        await new Promise((resolve) => setTimeout(resolve, delays[query]));
        finished.push(query);
        return 'ok';
      },
    });
    expect(finished).toEqual(['q2', 'q1']);
    expect(result.results.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  test('an infrastructure error is tried again, and labelled when it stays', async () => {
    let tries = 0;
    const flaky = () => {
      tries++;
      throw Object.assign(new Error('rate limited'), {
        status: 429,
        headers: { 'retry-after': '0' },
      });
    };
    const result = await run({ suite: suiteOf(one), runner: flaky, retries: 1 });
    expect(tries).toBe(2);
    expect(result.results[0]?.error).toMatchObject({
      kind: 'infra',
      message: expect.stringMatching(/^\[INFRA\].*rate limited/),
    });
  });

  test('an agent that hangs is given up after the timeout', async () => {
    const result = await run({
      suite: suiteOf(one),
      runner: () => new Promise(() => {}),
      timeoutMs: 30,
    });
    expect(result.results[0]).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('30 ms') },
    });
  });

  test.each([
    { returns: 'null', value: null },
    { returns: 'undefined', value: undefined },
    { returns: 'a function', value: () => 1 },
    {
      returns: 'a list of two traces',
      value: [
        { query: 'a', answer: 'x', tool_calls: [] },
        { query: 'b', answer: 'y', tool_calls: [] },
      ],
    },
    {
      returns: 'a trace whose tool calls are no list',
      value: { answer: 'ok', tool_calls: { name: 'a' } },
    },
    { returns: 'cut-off JSON', value: '{"answer": "ok", "tool_calls": [' },
  ])('an agent that returns $returns gives an error', async ({ value }) => {
    expect((await run({ suite: suiteOf(one), runner: () => value })).results[0]?.status).toBe(
      'error',
    );
  });

  test.each([
    { returns: 'a string', value: 'ok' },
    { returns: 'the simple form', value: { answer: 'ok', tool_calls: [] } },
    { returns: 'a trace', value: simpleTrace({ query: 'q1', answer: 'ok' }) },
    { returns: 'the simple form as text', value: JSON.stringify({ answer: 'ok', tool_calls: [] }) },
    { returns: 'a JSON answer', value: '{"status": "ok"}' },
  ])('an agent may return $returns', async ({ value }) => {
    expect((await run({ suite: suiteOf(one), runner: () => value })).results[0]).toMatchObject({
      status: 'pass',
      answer: expect.stringContaining('ok'),
    });
  });

  test('wall time is recorded when the trace has none', async () => {
    const suite = suiteOf('  - {id: a, query: q1, cost: {max_latency_ms: 60000}}\n');
    expect((await run({ suite, runner: () => 'ok' })).results[0]?.cost).toMatchObject({
      status: 'pass',
    });
  });

  test('--fail-fast leaves the rest not run, and the failure decides', async () => {
    const result = await run({
      suite: suiteOf(two),
      runner: () => 'no',
      workers: 1,
      failFast: true,
    });
    expect(result.results[1]).toMatchObject({
      status: 'skip',
      not_run: expect.stringContaining('fail-fast'),
    });
    expect(result.summary).toMatchObject({ exit_code: 1, failed: 1, skipped: 1 });
  });

  test('--max-cost leaves the rest an error: nobody can tell', async () => {
    const result = await run({
      suite: suiteOf(two),
      runner: () => ({ answer: 'ok', cost_usd: 0.5 }),
      workers: 1,
      maxCostUsd: 0.4,
    });
    expect(statuses(result)).toEqual({ a: 'pass', b: 'error' });
    expect(result.summary.exit_code).toBe(2);
  });

  test('an interrupted run keeps finished results and exits 130', async () => {
    const controller = new AbortController();
    const recorded: string[] = [];
    const result = await run({
      suite: suiteOf(two),
      workers: 1,
      signal: controller.signal,
      runner: (query) => {
        if (query === 'q2') controller.abort();
        return query === 'q2' ? new Promise(() => {}) : 'ok';
      },
      sink: { record: ({ id }) => void recorded.push(id) },
    });
    expect(recorded).toEqual(['a']);
    expect(result).toMatchObject({ interrupted: true, summary: { exit_code: 130 } });
    expect(statuses(result)).toEqual({ a: 'pass', b: 'skip' });
  });

  test('a resumed run makes only the missing runs', async () => {
    const suite = suiteOf(two);
    const asked: string[] = [];
    const first = await run({ suite, runner: () => 'ok', ids: ['a'] });
    const result = await run({
      suite,
      resumed: [{ id: 'a', run: 1, result: first.results[0]! }],
      runner: (query) => {
        asked.push(query);
        return 'ok';
      },
    });
    expect(asked).toEqual(['q2']);
    expect(statuses(result)).toEqual({ a: 'pass', b: 'pass' });
  });

  test('many parallel workers cause no warning of Node', async () => {
    const warnings: Error[] = [];
    const listen = (warning: Error) => warnings.push(warning);
    process.on('warning', listen);
    const queries = Array.from({ length: 30 }, (_, i) => one.replaceAll('id: a', `id: a${i}`)).join(
      '',
    );
    await run({
      suite: suiteOf(queries),
      workers: 30,
      signal: new AbortController().signal,
      runner: () => new Promise((done) => setTimeout(done, 5, 'ok')),
    });
    await new Promise((done) => setTimeout(done, 10));
    process.off('warning', listen);
    expect(warnings).toEqual([]);
  });

  test('a worker takes the next run when the verdict on its last is recorded', async () => {
    const seen: string[] = [];
    await run({
      suite: suiteOf(two),
      workers: 1,
      runner: async () => 'ok',
      sink: {
        event: (event) => {
          if (event.type === 'run_started') seen.push(`start ${event.id}`);
          if (event.type === 'run_ended') seen.push(`end ${event.id}`);
        },
      },
    });
    expect(seen).toEqual(['start a', 'end a', 'start b', 'end b']);
  });

  test('a verdict that cannot be written down ends the run with its reason', async () => {
    const many = Array.from({ length: 100 }, (_, i) =>
      one.replaceAll(/id: a|q1/g, (text) => `${text}-${i}`),
    ).join('');
    const started: string[] = [];
    const running = run({
      suite: suiteOf(many),
      workers: 2,
      runner: (query) => {
        started.push(query);
        return 'ok';
      },
      sink: {
        record: () => {
          throw new Error('the disk is full');
        },
      },
    });
    await expect(running).rejects.toThrow('the disk is full');
    expect(started.length).toBeLessThan(20);
  });

  test('no runner and no recordings is a mistake with a way out', async () => {
    await expect(run({ suite: suiteOf(one) })).rejects.toMatchObject({
      code: 'NO_RUNNER',
      hint: expect.stringContaining('--traces'),
    });
  });

  test('nothing selected is a mistake that names the tags there are', async () => {
    const suite = suiteOf('  - {id: a, query: q1, tags: [smoke]}\n');
    await expect(run({ suite, runner: () => 'ok', tags: ['smok'] })).rejects.toMatchObject({
      code: 'NOTHING_SELECTED',
      hint: expect.stringContaining('smoke'),
    });
  });

  test.each([
    { what: 'cases that are not there', given: { only: [{ id: 'a' }] }, hint: /run again/ },
    { what: 'positions', given: { indices: [9] }, hint: /^Its ids are: a, b$/ },
  ])(
    'nothing selected by $what: the hint is true, and names each id once',
    async ({ given, hint }) => {
      const { suite } = parseSpec(
        'agent: x\nmatrix: {m: [1, 2]}\nqueries: [{id: a, query: a}, {id: b, query: b}]\n',
        {
          file: 's.yaml',
        },
      );
      await expect(run({ suite: suite!, runner: () => 'ok', ...given })).rejects.toMatchObject({
        code: 'NOTHING_SELECTED',
        hint: expect.stringMatching(hint),
      });
    },
  );

  test('repeats run as often as asked and pass at the wanted rate', async () => {
    let calls = 0;
    const suite = suiteOf(
      '  - {id: a, query: q1, runs: 4, min_pass_rate: 0.5, correctness: {expected_in_answer: [ok]}}\n',
    );
    const result = await run({
      suite,
      runner: () => (calls++ % 2 === 0 ? 'ok' : 'no'),
      workers: 1,
    });
    expect(result.results[0]).toMatchObject({
      status: 'pass',
      pass_rate: { passed: 2, decided: 4, min: 0.5 },
    });
    expect(result.results[0]?.runs).toHaveLength(4);
  });
});

describe('judging recordings', () => {
  const recording = (id: string | undefined, query: string, answer = 'ok') =>
    simpleTrace({ ...(id ? { id } : {}), query, answer });

  test('a recording is matched by id first, then by exact text', async () => {
    const traces = [recording('b', 'something else'), recording(undefined, 'q1')];
    expect(statuses(await run({ suite: suiteOf(two), traces }))).toEqual({ a: 'pass', b: 'pass' });
  });

  test('the nth of several queries with one text takes the nth recording', async () => {
    const suite = suiteOf(
      '  - {query: same, correctness: {expected_in_answer: [first]}}\n  - {query: same, correctness: {expected_in_answer: [second]}}\n',
    );
    const traces = [recording(undefined, 'same', 'first'), recording(undefined, 'same', 'second')];
    expect((await run({ suite, traces })).results.map(({ status }) => status)).toEqual([
      'pass',
      'pass',
    ]);
  });

  test('a query without a recording is an error that names the nearest one', async () => {
    const result = await run({ suite: suiteOf(one), traces: [recording('aa', 'q1 ?')] });
    expect(result.results[0]).toMatchObject({
      status: 'error',
      error: { kind: 'trace', message: expect.stringContaining('"aa"') },
    });
    expect(result.summary.exit_code).toBe(2);
  });

  test('more recordings than runs is an error that names them', async () => {
    const traces = [recording(undefined, 'q1'), recording('second', 'q1')];
    const result = await run({ suite: suiteOf(one), traces });
    expect(result.results[0]).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('second') },
    });
  });

  test('fewer recordings than runs is an error, not a smaller denominator', async () => {
    expect(
      (await run({ suite: suiteOf(one), runs: 2, traces: [recording(undefined, 'q1')] })).results[0]
        ?.status,
    ).toBe('error');
  });

  test('unused recordings are reported', async () => {
    const result = await run({
      suite: suiteOf(one),
      traces: [recording('a', 'q1'), recording('stray', 'other')],
    });
    expect(result).toMatchObject({
      summary: { exit_code: 0 },
      notices: [expect.stringContaining('stray')],
    });
  });

  test('a recording of a query that was not selected is not called unused', async () => {
    const result = await run({
      suite: suiteOf(two),
      ids: ['a'],
      traces: [recording('a', 'q1'), recording('b', 'q2')],
    });
    expect(result.notices).toEqual([]);
  });

  test('a malformed line is a located error, and the other records are judged', async () => {
    const dir = tempDir({
      'traces.jsonl':
        '{"id":"a","query":"q1","answer":"ok"}\n{"id"\n{"id":"b","query":"q2","answer":"ok"}\n',
    });
    const result = await run({ suite: suiteOf(two), traces: `${dir}/traces.jsonl` });
    expect(statuses(result)).toEqual({ a: 'pass', b: 'pass' });
    expect(result.checks).toMatchObject([
      { id: 'traces.readable', status: 'error', location: { line: 2 } },
    ]);
    expect(result.summary.exit_code).toBe(2);
  });

  test('a truncated record that still names its query is an error of that query, for any following text', async () => {
    const dir = tempDir({
      'traces.jsonl': '{"id":"a","query":"q1","ans\n{"id":"a","query":"q1","answer":"ok"}\n',
    });
    const result = await run({ suite: suiteOf(one), traces: `${dir}/traces.jsonl` });
    expect(result.results[0]).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('TRACE_DAMAGED') },
    });
  });

  test('an unreadable record of a known query is an error of that query', async () => {
    const dir = tempDir({
      'traces.jsonl': '{"id":"a","query":"q1","answer":"ok","tool_calls":{"name":"x"}}\n',
    });
    const result = await run({ suite: suiteOf(one), traces: `${dir}/traces.jsonl` });
    expect(result.results[0]).toMatchObject({ status: 'error', error: { kind: 'trace' } });
  });

  test.each([
    {
      what: 'says the run failed',
      trace: { query: 'q1', answer: 'ok', status: 'error', error: 'crashed' },
    },
    { what: 'has neither steps nor an answer', trace: { query: 'q1', tool_calls: [] } },
  ])('a recording that $what is an error', async ({ trace }) => {
    expect(
      (await run({ suite: suiteOf(one), traces: [simpleTrace(trace)] })).results[0]?.status,
    ).toBe('error');
  });

  test('an answer that was not captured is an error, never a pass of not_in_answer', async () => {
    const suite = suiteOf('  - {id: a, query: q1, correctness: {not_in_answer: [x]}}\n');
    expect(
      (await run({ suite, traces: [simpleTrace({ query: 'q1', tool_calls: [{ name: 't' }] })] }))
        .results[0]?.status,
    ).toBe('error');
  });

  test('a run that was cut off cannot prove that a tool was not called', async () => {
    const suite = suiteOf('  - {id: a, query: q1, path: {forbidden_tools: [rm]}}\n');
    const cut = {
      ...simpleTrace({ query: 'q1', answer: 'ok', tool_calls: [{ name: 'ls' }] }),
      status: 'incomplete' as const,
    };
    expect((await run({ suite, traces: [cut] })).results[0]?.status).toBe('error');
  });

  test('a query whose checks could all not be measured is an error', async () => {
    const suite = suiteOf('  - {id: a, query: q1, cost: {max_cost_usd: 1}}\n');
    expect((await run({ suite, traces: [recording('a', 'q1')] })).results[0]).toMatchObject({
      status: 'error',
      cost: { status: 'skip' },
    });
  });

  test('queries without checks prove nothing: exit 2', async () => {
    const result = await run({
      suite: suiteOf('  - {id: a, query: q1}\n'),
      traces: [recording('a', 'q1')],
    });
    expect(result).toMatchObject({ results: [{ status: 'skip' }], summary: { exit_code: 2 } });
  });

  test('two runs over the same recordings give the same bytes, clock apart', async () => {
    const go = async () => {
      const {
        started_at: _,
        duration_ms: __,
        ...rest
      } = await run({
        suite: suiteOf(two),
        traces: [recording('a', 'q1'), recording('b', 'q2', 'no')],
        workers: 3,
      });
      return JSON.stringify(rest);
    };
    expect(await go()).toBe(await go());
  });
});

describe('rubrics without a judge', () => {
  const suite = () =>
    suiteOf(
      '  - {id: a, query: q1, correctness: {expected_in_answer: [ok], llm_judge: [{rule: is polite}]}}\n',
    );
  const answer = (text: string) => [simpleTrace({ id: 'a', query: 'q1', answer: text })];

  test('are an error: nobody judged', async () => {
    const result = await run({ suite: suite(), traces: answer('ok') });
    expect(result).toMatchObject({ results: [{ status: 'error' }], summary: { exit_code: 2 } });
  });

  test('are skipped when the judge is off', async () => {
    const result = await run({ suite: suite(), traces: answer('ok'), judge: 'off' });
    expect(result.results[0]).toMatchObject({
      status: 'pass',
      correctness: { checks: [{ status: 'pass' }, { status: 'skip', skip_reason: 'off' }] },
    });
  });

  test('are not asked after a deterministic failure', async () => {
    const result = await run({ suite: suite(), traces: answer('no') });
    expect(result.results[0]).toMatchObject({
      status: 'fail',
      correctness: { checks: [{ status: 'fail' }, { status: 'skip', skip_reason: 'not_run' }] },
    });
  });
});

describe('baselines', () => {
  const spec = '  - {id: a, query: q1, path: {match_mode: strict, min_sequence_similarity: 0.9}}\n';
  const baseline = (
    version: string,
    tools: string[],
    metadata: object = { precheck_passed: true },
  ) => ({
    [`baselines/demo/${version}/a.json`]: {
      schema: 'agentci.baseline/1',
      version,
      agent: 'demo',
      query: 'q1',
      query_id: 'a',
      captured_at: `2026-01-0${version.slice(1)}T00:00:00Z`,
      metadata,
      trace: { query: 'q1', answer: 'ok', tool_calls: tools.map((name) => ({ name })) },
    },
  });
  const used = [
    simpleTrace({ id: 'a', query: 'q1', answer: 'ok', tool_calls: [{ name: 'x' }, { name: 'y' }] }),
  ];

  test('the newest one that passed its precheck is used and named', async () => {
    const dir = tempDir({
      ...baseline('v1', ['z']),
      ...baseline('v2', ['x', 'y']),
      ...baseline('v3', ['z'], { precheck_passed: false, forced: true }),
    });
    const result = await run({ suite: suiteOf(spec, { dir }), traces: used });
    expect(result.results[0]).toMatchObject({ status: 'pass', baseline: { version: 'v2' } });
  });

  test('a named version is used even when it was forced', async () => {
    const dir = tempDir({
      ...baseline('v1', ['x', 'y']),
      ...baseline('v3', ['z'], { precheck_passed: false, forced: true }),
    });
    const result = await run({ suite: suiteOf(spec, { dir }), traces: used, baseline: 'v3' });
    expect(result.results[0]).toMatchObject({ status: 'warn', baseline: { version: 'v3' } });
  });

  test('a version that does not exist is a mistake that names those that do', async () => {
    const dir = tempDir(baseline('v1', ['x']));
    await expect(
      run({ suite: suiteOf(spec, { dir }), traces: used, baseline: 'v9' }),
    ).rejects.toMatchObject({
      code: 'BASELINE_MISSING',
      hint: expect.stringContaining('v1'),
    });
  });

  test('a changed spec and a baseline without a query are reported', async () => {
    const stray = {
      ...Object.values(baseline('v1', ['x']))[0]!,
      version: 'v2',
      query: 'gone',
      query_id: 'gone',
    };
    const dir = tempDir({
      ...baseline('v2', ['x', 'y'], { precheck_passed: true, spec_hash: 'sha256:old' }),
      'baselines/demo/v2/gone.json': stray,
    });
    const { notices } = await run({ suite: suiteOf(spec, { dir }), traces: used });
    expect(notices).toEqual([
      expect.stringContaining('no longer in the spec'),
      expect.stringContaining('changed since baseline v2'),
    ]);
  });

  test('without any, checks that need one are skipped with a reason', async () => {
    const result = await run({ suite: suiteOf(spec), traces: used });
    expect(result.results[0]?.path.checks).toMatchObject([
      { skip_reason: 'no_baseline' },
      { skip_reason: 'no_baseline' },
    ]);
    expect(result.summary.exit_code).toBe(2);
  });
});
