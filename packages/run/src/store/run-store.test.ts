import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoredResult } from '@agentci/results';
import { runOf } from '@agentci/testing/run-of';
import { tempDir } from '@agentci/testing/temp-dir';
import { simpleTrace } from '@agentci/trace';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RunStore } from './run-store.ts';
import { latestVerdicts, listRuns, readRun, tracesOf } from './stored-runs.ts';

const header = (run_id: string, hash = 'sha256:1') => ({
  run_id,
  agent: 'demo',
  spec: { file: 'spec.yaml', hash },
  started_at: '2026-01-01T00:00:00Z',
});
/** The ids of the results or traces in a file. */
const idsIn = (path: string): string[] =>
  [...readFileSync(path, 'utf8').matchAll(/^\{.*?"id":"(\w+)"/gm)]
    .map(([, id]) => id!)
    .filter((id) => id !== 'r1');
const [done, other] = runOf([
  { id: 'a', status: 'pass' },
  { id: 'b', status: 'fail' },
]).results;

test('a finished run is read back as it was', () => {
  const root = tempDir();
  const run = runOf([{ id: 'a', status: 'pass' }]);
  const store = RunStore.create(root, header('r1'));
  store.record(
    { id: 'a', run: 1, result: run.results[0]! },
    simpleTrace({ id: 'a', query: 'q', answer: 'x' }),
  );
  store.finish(run);
  expect(readRun(root, 'r1')).toEqual(run);
  expect(listRuns(root)).toMatchObject([{ id: 'r1', finished: true }]);
});

test('run.json appears only when the run is finished, and never half-written', () => {
  const root = tempDir();
  const store = RunStore.create(root, header('r1'));
  store.record({ id: 'a', run: 1, result: done! }, undefined);
  expect(existsSync(join(root, 'r1', 'run.json'))).toBe(false);
  store.finish(runOf([]));
  expect(readdirSync(join(root, 'r1')).sort()).toEqual(['results.jsonl', 'run.json', 'traces']);
});

test('results of replayed agents are with the system after the turn they were recorded in', async () => {
  const root = tempDir();
  const store = RunStore.create(root, header('r1'), { durability: 'handed-over' });
  store.record(
    { id: 'a', run: 1, result: done! },
    simpleTrace({ id: 'a', query: 'q', answer: 'x' }),
  );
  await nextTurn();
  expect(idsIn(join(root, 'r1', 'results.jsonl'))).toEqual(['a']);
  expect(idsIn(join(root, 'r1', 'traces', 'traces.jsonl'))).toEqual(['a']);
  store.close();
});

test.each(['each', 'handed-over'] as const)(
  'whenever the process is killed, each result that is stored has its trace: %s',
  (durability) => {
    const size = fc.oneof(fc.nat(1000), fc.nat(300_000));
    fc.assert(
      fc.property(fc.array(fc.tuple(size, size), { maxLength: 12 }), (sizes) => {
        const root = tempDir();
        const store = RunStore.create(root, header('r1'), { durability });
        for (const [i, [resultSize, traceSize]] of sizes.entries()) {
          const id = `q${i}`;
          const result = { ...done!, id, answer: 'r'.repeat(resultSize) };
          store.record(
            { id, run: 1, result },
            simpleTrace({ id, query: 'q', answer: 'é'.repeat(traceSize) }),
          );
          const traced = new Set(idsIn(join(root, 'r1', 'traces', 'traces.jsonl')));
          expect(
            idsIn(join(root, 'r1', 'results.jsonl')).filter((each) => !traced.has(each)),
          ).toEqual([]);
        }
        store.close();
        expect(idsIn(join(root, 'r1', 'results.jsonl'))).toHaveLength(sizes.length);
      }),
      { numRuns: 30 },
    );
  },
);

test('a line cut off by a kill is dropped, and earlier results are kept', () => {
  const root = tempDir();
  const store = RunStore.create(root, header('r1'));
  store.record({ id: 'a', run: 1, result: done! }, undefined);
  store.close();
  appendFileSync(join(root, 'r1', 'results.jsonl'), '{"id":"b","run":1,"resu');
  const reopened = RunStore.reopen(root, 'r1');
  expect(reopened.entries.map((entry) => entry.id)).toEqual(['a']);
  reopened.store.record({ id: 'b', run: 1, result: other! }, undefined);
  reopened.store.close();
  const lines = readFileSync(join(root, 'r1', 'results.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line).id)).toEqual([undefined, 'a', 'b']);
});

test('a trace that a kill left without its result is dropped, so that its run has one trace when it is made again', () => {
  const root = tempDir();
  const traceOf = (id: string) => ({ ...simpleTrace({ query: 'q', answer: 'x' }), task: { id } });
  const store = RunStore.create(root, header('r1'));
  store.record({ id: 'a', run: 1, result: done! }, traceOf('a'));
  store.close();
  const file = join(root, 'r1', 'traces', 'traces.jsonl');
  appendFileSync(file, `${JSON.stringify(traceOf('é'))}\n`);
  const { store: reopened } = RunStore.reopen(root, 'r1');
  reopened.record({ id: 'é', run: 1, result: other! }, traceOf('é'));
  reopened.close();
  const ids = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(ids.map((line) => JSON.parse(line).task.id)).toEqual(['a', 'é']);
  RunStore.reopen(root, 'r1').store.close();
  expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(2);
});

test('an existing run is never overwritten', () => {
  const root = tempDir();
  const store = RunStore.create(root, header('r1'));
  store.record({ id: 'a', run: 1, result: done! }, undefined);
  store.close();
  expect(() => RunStore.create(root, header('r1'))).toThrow(/EEXIST/);
  expect(RunStore.reopen(root, 'r1').entries).toHaveLength(1);
});

test('each record is on disk before the next action', () => {
  const root = tempDir();
  const store = RunStore.create(root, header('r1'));
  store.record(
    { id: 'a', run: 1, result: done! },
    simpleTrace({ id: 'a', query: 'q', answer: 'x' }),
  );
  const lines = (path: string) =>
    readFileSync(join(root, 'r1', path), 'utf8').split('\n').length - 1;
  expect([lines('results.jsonl'), lines('traces/traces.jsonl')]).toEqual([2, 1]);
  store.close();
});

test('a run that is written in batches can be found from its start, and is whole once it is closed', () => {
  const root = tempDir();
  const store = RunStore.create(root, header('r1'), { durability: 'batched' });
  expect(listRuns(root)).toMatchObject([{ id: 'r1', finished: false }]);
  store.record({ id: 'a', run: 1, result: done! }, undefined);
  store.close();
  expect(RunStore.reopen(root, 'r1').entries.map(({ id }) => id)).toEqual(['a']);
});

test('two runs of one query keep both their traces when they are resumed', () => {
  const root = tempDir();
  const trace = { ...simpleTrace({ query: 'q', answer: 'x' }), task: { id: 'a' } };
  const store = RunStore.create(root, header('r1'));
  for (const run of [1, 2]) store.record({ id: 'a', run, result: done! }, trace);
  store.close();
  RunStore.reopen(root, 'r1').store.close();
  expect(
    readFileSync(join(root, 'r1', 'traces', 'traces.jsonl'), 'utf8')
      .trimEnd()
      .split('\n'),
  ).toHaveLength(2);
});

test.each([
  {
    what: 'a line with invalid JSON',
    file: 'results.jsonl',
    text: '{"id"\n{}\n',
    says: ':3 is not JSON',
  },
  {
    what: 'a journal without its header',
    file: 'results.jsonl',
    text: undefined,
    says: 'does not start with',
  },
  {
    what: 'a result with invalid JSON',
    file: 'run.json',
    text: '{"id"',
    says: 'run.json cannot be read',
  },
])('$what is damage with a name, never a smaller run', ({ file, text, says }) => {
  const root = tempDir();
  const store = RunStore.create(root, header('r1'));
  store.record({ id: 'a', run: 1, result: done! }, undefined);
  store.finish(runOf([{ id: 'a', status: 'pass' }]));
  const path = join(root, 'r1', file);
  if (text === undefined) writeFileSync(path, '{"id":"a","run":1}\n');
  else appendFileSync(path, text);
  expect(() => readRun(root, 'r1')).toThrowError(
    expect.objectContaining({ code: 'RUN_DAMAGED', message: expect.stringContaining(says) }),
  );
});

test.each([
  { what: 'a file', path: 'traces.jsonl' },
  { what: 'a folder', path: '' },
])(
  'the recordings of a run are those it judged, and $what that changed or went is refused by name',
  ({ path }) => {
    const root = tempDir();
    const source = tempDir({ 'traces.jsonl': 'one' });
    const recordings = join(source, path);
    const store = RunStore.create(root, header('r1'));
    store.judges(recordings);
    store.close();
    expect(tracesOf(root, 'r1')).toBe(recordings);
    // Of the same length: only the time differs.
    writeFileSync(join(source, 'traces.jsonl'), 'two');
    utimesSync(join(source, 'traces.jsonl'), 1, 1);
    expect(() => tracesOf(root, 'r1')).toThrowError(
      expect.objectContaining({
        code: 'RUN_RECORDINGS_GONE',
        hint: expect.stringContaining(`--traces ${recordings}`),
      }),
    );
    rmSync(source, { recursive: true });
    expect(() => tracesOf(root, 'r1')).toThrowError(
      expect.objectContaining({ code: 'RUN_RECORDINGS_GONE' }),
    );
  },
);

test('a finished run counts as it ended, not as its single runs went', () => {
  const root = tempDir();
  const store = RunStore.create(root, header('r1'));
  store.record({ id: 'a', run: 1, result: other! }, undefined);
  store.record({ id: 'a', run: 2, result: done! }, undefined);
  store.finish(runOf([{ id: 'a', status: 'fail' }]));
  expect(
    latestVerdicts(root, ({ header: { spec } }) => spec.file === 'spec.yaml')?.results.get('a')
      ?.status,
  ).toBe('fail');
});

test('an empty store reports a missing run as such', () => {
  for (const look of [readRun, tracesOf])
    expect(() => look(tempDir(), 'r9')).toThrowError(
      expect.objectContaining({ code: 'RUN_MISSING', hint: 'Nothing has been run here yet.' }),
    );
});

test('the newest run of a spec is found, unfinished ones included', () => {
  const root = tempDir({ 'not-a-run/notes.txt': 'x' });
  RunStore.create(root, header('2026-1')).finish(runOf([{ id: 'a', status: 'pass' }]));
  const store = RunStore.create(root, header('2026-2'));
  store.record({ id: 'a', run: 1, result: { ...done!, status: 'fail' } }, undefined);
  store.close();
  expect(
    latestVerdicts(root, ({ header: { spec } }) => spec.file === 'spec.yaml')?.results.get('a')
      ?.status,
  ).toBe('fail');
  expect(
    latestVerdicts(root, ({ header: { spec } }) => spec.file === 'other.yaml'),
  ).toBeUndefined();
});

test('a run that does not exist is a mistake of the user, with the newest ones named', () => {
  const root = tempDir();
  RunStore.create(root, header('r2')).close();
  const unfinished = expect.objectContaining({
    code: 'RUN_MISSING',
    message: `run "r2" under ${root} was not finished: it has no run.json`,
    hint: 'No run here was finished.',
  });
  expect(() => readRun(root, 'r2')).toThrowError(unfinished);
  RunStore.create(root, header('r1')).finish(runOf([{ id: 'a', status: 'pass' }]));
  expect(() => readRun(root, 'r9')).toThrowError(
    expect.objectContaining({ code: 'RUN_MISSING', hint: 'The newest are: r1' }),
  );
});

test('recordings next to dangling and recursive links can be judged again', () => {
  const root = tempDir();
  const traces = tempDir({ 'a.json': {} });
  for (const [target, name] of [
    ['nowhere.json', 'gone.json'],
    ['.', 'loop'],
    ['.', 'loop-again'],
    ['self.json', 'self.json'],
  ] as const)
    symlinkSync(target, join(traces, name));
  const store = RunStore.create(root, header('r1'));
  store.judges(traces);
  store.close();
  expect(tracesOf(root, 'r1')).toBe(traces);
});

test('a run that was resumed is newer than one that began in between', () => {
  const root = tempDir();
  const open = RunStore.create(root, header('20260101-100000000-0000'));
  open.record({ id: 'a', run: 1, result: { ...done!, status: 'fail' } }, undefined);
  open.close();
  RunStore.create(root, header('20260101-110000000-0000')).finish(
    runOf([{ id: 'b', status: 'pass' }]),
  );
  expect(listRuns(root)[0]?.id).toBe('20260101-110000000-0000');
  RunStore.reopen(root, '20260101-100000000-0000').store.close();
  expect(listRuns(root)[0]?.id).toBe('20260101-100000000-0000');
});

test('the results of a large run are read when someone needs them', () => {
  const root = tempDir();
  const run = runOf(
    Array.from({ length: 300 }, (_, i) => ({
      id: `q${i}`,
      status: 'pass' as const,
      answer: `naïve ${i} 😀${i === 298 ? 'x'.repeat(600_000) : ''}`,
    })),
  );
  const store = RunStore.create(root, header('r1'), { durability: 'batched' });
  const kept = run.results.map((result) => {
    store.record({ id: result.id, run: 1, result }, undefined);
    return store.keep(result);
  });
  expect(kept.filter((result) => result instanceof StoredResult)).toHaveLength(200);
  // Read while the journal is being written, out of order, and after it was finished.
  expect(kept[250]!.answer).toBe('naïve 250 😀');
  expect(kept[120]!.correctness).toEqual(run.results[120]!.correctness);
  store.finish({ ...run, results: kept });
  expect(JSON.parse(JSON.stringify(kept))).toEqual(run.results);
  for (const at of [298, 299])
    expect(Buffer.from((kept[at] as StoredResult).json()).toString()).toBe(
      JSON.stringify(run.results[at]),
    );
  expect(readRun(root, 'r1').results).toEqual(run.results);
});

test('a result that the journal has in another form stays in memory', () => {
  const store = RunStore.create(tempDir(), header('r1'), { durability: 'batched' });
  const results = runOf(
    Array.from({ length: 102 }, (_, i) => ({ id: `q${i}`, status: 'pass' as const })),
  ).results;
  for (const result of results.slice(0, 101)) {
    store.record({ id: result.id, run: 1, result }, undefined);
    store.keep(result);
  }
  const putAside = { ...results[101]!, xfail: { reason: 'known', status: 'fail' as const } };
  store.record({ id: putAside.id, run: 1, result: putAside }, undefined);
  expect(store.keep(putAside)).toBe(putAside);
  expect(store.keep(results[0]!)).toBe(results[0]);
  store.close();
});
