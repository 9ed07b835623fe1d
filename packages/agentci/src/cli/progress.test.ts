import type { CheckStatus, QueryResult } from '@agentci/results';
import { runOf } from '@agentci/testing/run-of';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ioOf } from '../../test/support/io.ts';
import { startProgress } from './progress.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ended = (id: string, status: CheckStatus) =>
  ({
    type: 'run_ended',
    id,
    run: 1,
    result: costing(0.01, runOf([{ id, status }]).results[0]!),
  }) as const;

const costing = (cost_usd: number, result: QueryResult): QueryResult => ({
  ...result,
  cost: { ...result.cost, details: { actual: { cost_usd } } },
});

function watched({ quiet = false, isTerminal = false } = {}) {
  const { io, written } = ioOf('.', { isTerminal, now: () => Date.now() });
  const progress = startProgress(io, { quiet });
  return { ...progress, written };
}

test('in a log a line now and then says how far the run is', () => {
  const { event, stop, written } = watched();
  event({ type: 'started', queries: 4, runs: 4 });
  for (const [id, status] of [
    ['a', 'pass'],
    ['b', 'fail'],
    ['c', 'error'],
  ] as const) {
    event({ type: 'run_started', id, run: 1 });
    event(ended(id, status));
  }
  vi.advanceTimersByTime(9_999);
  expect(written.stderr).toBe('');
  vi.advanceTimersByTime(1);
  expect(written.stderr).toBe(
    'agentci: 3/4 · 1 failed · 1 error · $0.0300 · 10.0 s · about 3 s left\n',
  );
  event(ended('d', 'warn'));
  stop();
  vi.advanceTimersByTime(60_000);
  expect(written.stderr.split('\n')).toHaveLength(2);
});

test('on a terminal one line is drawn over and over, names what runs, fits the width, and is gone in the end', () => {
  const { event, stop, written } = watched({ isTerminal: true });
  event({ type: 'started', queries: 5, runs: 5 });
  for (const id of ['a', 'b', 'c', 'd']) event({ type: 'run_started', id, run: 1 });
  vi.advanceTimersByTime(100);
  expect(written.stderr).toBe('\r\u001b[2K0/5 · 100 ms · a, b, c +1');
  event(ended('a', 'pass'));
  for (const id of ['e'.repeat(50)]) event({ type: 'run_started', id, run: 1 });
  for (const id of ['b', 'c', 'd']) event(ended(id, 'warn'));
  written.stderr = '';
  vi.advanceTimersByTime(100);
  expect(written.stderr).toBe(
    `\r\u001b[2K${`4/5 · 3 warned · $0.0400 · 200 ms · about 1 s left · ${'e'.repeat(50)}`.slice(0, 39)}`,
  );
  written.stderr = '';
  stop();
  expect(written.stderr).toBe('\r\u001b[2K');
});

test('a retry is reported immediately on a separate line, and its reason cannot move the cursor', () => {
  const { event, stop, written } = watched({ isTerminal: true });
  event({ type: 'started', queries: 1, runs: 1 });
  vi.advanceTimersByTime(100);
  written.stderr = '';
  event({
    type: 'retrying',
    id: 'a',
    attempt: 1,
    message: 'rate\n\u001b[2Jlimit',
    delayMs: 1500,
  });
  expect(written.stderr).toBe('\r\u001b[2Kagentci: a: [INFRA] rate limit; try 2 in 1.50 s\n');
  stop();
});

test('--quiet says nothing', () => {
  const { event, stop, written } = watched({ quiet: true });
  event({ type: 'started', queries: 1, runs: 1 });
  event({ type: 'retrying', id: 'a', attempt: 1, message: 'x', delayMs: 1 });
  vi.advanceTimersByTime(60_000);
  stop();
  expect(written.stderr).toBe('');
});
