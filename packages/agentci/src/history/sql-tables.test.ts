import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HistoryQuery, HistoryRun } from '@agentci/run';
import { appendRuns, queriesPath, readRuns } from '@agentci/run';
import { expect, onTestFinished, test } from 'vitest';
import type { Io } from '../cli/io.ts';
import { QUERIES_WITH_RUNS, writeTables } from './sql-tables.ts';

const QUERIES: readonly HistoryQuery[] = [
  { id: 'a', status: 'pass', decided: 1, passed: 1, usd: 0.01 },
  { id: 'b', cell: { m: 'x' }, status: 'fail', decided: 1, passed: 0 },
];
const runOf = (id: string, more: Partial<HistoryRun> = {}): HistoryRun => ({
  id,
  at: '2026-01-01T00:00:00.000Z',
  agent: 'shop',
  spec: 's.yaml',
  hash: 'h',
  models: [],
  total: 2,
  passed: 1,
  failed: 1,
  warnings: 0,
  errors: 0,
  skipped: 0,
  exit: 1,
  usd: 0.01,
  unpriced: 0,
  tokens: null,
  p50_ms: null,
  p95_ms: null,
  ...more,
});

test('tables have the runs that a history lists with their queries, and nothing else from its files', () => {
  const dir = mkdtempSync(join(tmpdir(), 'agentci-tables-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const root = join(dir, 'history');
  const add = (run: HistoryRun): void => appendRuns(root, [{ run, queries: QUERIES }]);
  add(runOf('known'));
  add(runOf('known', { branch: 'main' }));
  add(runOf('merge-1', { shard_runs: ['s1'] }));
  add(
    runOf('merge-2', {
      shard_runs: ['s1', 's2'],
      judges: { run: 'known', at: '2026-01-01T00:00:00.000Z' },
    }),
  );
  appendFileSync(join(root, 'runs.jsonl'), '{"id":"x","at":"nonsense"}\n');
  appendFileSync(queriesPath(root, 'known'), '{"id":"c","status":"good"}\n');
  let said = '';
  const io = { stderr: { write: (text: string) => (said += text) } } as unknown as Io;
  const { unread } = writeTables({ root, runs: readRuns(root).lines }, dir, io);
  const rowsOf = (name: string): Record<string, unknown>[] =>
    readFileSync(join(dir, `${name}.jsonl`), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const at = Date.UTC(2026, 0, 1);
  expect(rowsOf('runs')).toMatchObject([
    { id: 'known', at, branch: 'main', part: false, recorded: false },
    { id: 'merge-2', at, judges: { run: 'known', at } },
  ]);
  expect(rowsOf('queries').map(({ run, id }) => `${run} ${id}`)).toEqual([
    'known a',
    'known b',
    'merge-2 a',
    'merge-2 b',
  ]);
  expect(unread).toEqual(['known']);
  expect(said).toBe('agentci: 1 line of known.jsonl cannot be read and is skipped\n');
});

test('no column of a run has the name of a column of a query', () => {
  const names = [...QUERIES_WITH_RUNS.matchAll(/AS "(\w+)"/g)].map(([, name]) => name);
  expect(names).toContain('run_usd');
  expect(names.filter((name) => !name!.startsWith('run_'))).toEqual([]);
});
