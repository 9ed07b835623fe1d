import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  caseKey,
  misdatedRuns,
  placeAfter,
  placeAmong,
  placeOf,
  runsAhead,
  runTime,
} from '@agentci/results';
import { makeDir, tempDir } from '@agentci/testing/temp-dir';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RunStore } from '../store/run-store.ts';
import { listRuns } from '../store/stored-runs.ts';
import { appendRuns, readRuns, seenInHistory } from './history-files.ts';
import type { HistoryRun } from './history-run.ts';
import { readPastRuns, readPastVerdicts } from './past-verdicts.ts';

const NOON = Date.UTC(2026, 10, 18, 12);
const iso = (ms: number): string => new Date(ms).toISOString();
const runOf = (id: string, at: number, rest: Partial<HistoryRun> = {}): HistoryRun => ({
  id,
  at: iso(at),
  agent: 'shop',
  spec: 'agentci_spec.yaml',
  hash: 'h',
  models: [],
  total: 1,
  passed: 1,
  failed: 0,
  warnings: 0,
  errors: 0,
  skipped: 0,
  usd: null,
  unpriced: 0,
  tokens: null,
  p50_ms: null,
  p95_ms: null,
  exit: 0,
  ...rest,
});
const ids = (runs: readonly HistoryRun[]): string[] => runs.map(({ id }) => id);
const CASES = ['a', 'b', 'c'];

interface Step {
  /** Clock offset of the machine. */
  readonly offMs: number;
  readonly verdicts: Readonly<Record<string, 'pass' | 'fail'>>;
}

const step: fc.Arbitrary<Step> = fc.record({
  offMs: fc.oneof(
    fc.constantFrom(0, 0, 0, 30_000, -30_000, 86_400_000, -400 * 86_400_000, 400 * 86_400_000),
    fc.integer({ min: -120_000, max: 120_000 }),
  ),
  verdicts: fc.dictionary(
    fc.constantFrom(...CASES),
    fc.constantFrom('pass' as const, 'fail' as const),
    {
      minKeys: 1,
    },
  ),
});

/**
 * Executes runs one after the other, each with its own clock. Returns their dates in order of
 * execution.
 */
function play(root: string, steps: readonly Step[]): string[] {
  return steps.map(({ offMs, verdicts }, i) => {
    const at = iso(NOON + i * 10_000 + offMs);
    const place = placeAmong(seenInHistory(root), { time: runTime(at), now: runTime(at) });
    const failed = Object.values(verdicts).filter((status) => status === 'fail').length;
    const run = runOf(`${runTime(at)}-${String(i).padStart(4, '0')}`, Date.parse(at), {
      ...(place === runTime(at) ? {} : { order: place }),
      part: true,
      total: Object.keys(verdicts).length,
      passed: Object.keys(verdicts).length - failed,
      failed,
    });
    const queries = Object.entries(verdicts).map(([id, status]) => ({
      id,
      status,
      decided: 1,
      passed: status === 'pass' ? 1 : 0,
    }));
    appendRuns(root, [{ run, queries }]);
    return at;
  });
}

test('the last verdict in order of arrival counts and dates stay unchanged, even if clocks are wrong', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
      const root = makeDir();
      try {
        const dates = play(root, steps);
        const last = new Map<string, string>();
        for (const { verdicts } of steps)
          for (const [id, status] of Object.entries(verdicts)) last.set(id, status);
        const past = readPastRuns(root, {
          spec: 'agentci_spec.yaml',
          agent: 'shop',
          branch: undefined,
        });
        const cases = CASES.map((id) => caseKey({ id }));
        const { verdicts, lost } = readPastVerdicts(past, {
          cases,
          isOfBranch: false,
          isStored: () => false,
        });
        expect(
          new Map([...verdicts.values()].map(({ query }) => [query.id, query.status])),
        ).toEqual(last);
        expect(lost).toEqual([]);
        // The clock of the reader must not matter.
        for (const now of [NOON, NOON - 86_400_000, NOON + 500 * 86_400_000])
          expect(readRuns(root, now).lines.map(({ at }) => at)).toEqual(dates);
      } finally {
        rmSync(root, { recursive: true });
      }
    }),
    { numRuns: 60 },
  );
});

describe('a place', () => {
  const seen = (...runs: readonly (readonly [time: string, place?: string])[]) =>
    runs.map(([time, place = time]) => ({ id: time, time, place }));

  test.each([
    { when: 'nothing is there', among: [], time: '05', now: '05', place: '05' },
    { when: 'all are older', among: seen(['01'], ['02']), time: '05', now: '05', place: '05' },
    {
      when: 'one is of the same moment',
      among: seen(['05']),
      time: '05',
      now: '05',
      place: '05~000001',
    },
    {
      when: 'one is dated after now',
      among: seen(['09']),
      time: '05',
      now: '05',
      place: '09~000001',
    },
    {
      when: 'one was put after that',
      among: seen(['09'], ['04', '09~000001']),
      time: '05',
      now: '05',
      place: '09~000002',
    },
    { when: 'a newer one ran in between', among: seen(['06']), time: '05', now: '07', place: '05' },
    {
      when: 'it belongs between two that were put after one of a wrong clock',
      among: seen(['09'], ['02', '09~000001'], ['06', '09~000002']),
      time: '05',
      now: '07',
      place: '09~000001~000001',
    },
  ])('is $place when $when', ({ among, time, now, place }) => {
    expect(placeAmong(among, { time, now })).toBe(place);
  });

  test('a run dated in the future is reported to the first run that finds it, independent of later clocks', () => {
    const runs = seen(['01'], ['09'], ['05', '09~000001']);
    expect(runsAhead(runs.slice(0, 2), '05')).toEqual(['09']);
    expect(runsAhead(runs, '06')).toEqual([]);
    // For a slow clock the newest runs are in the future. One of them was known to be before.
    expect(runsAhead(runs, '00')).toEqual(['01', '05']);
  });

  test('sorts after the name of the run that it comes after', () => {
    expect(placeAfter('20261118-120000000') > '20261118-120000000-ffff').toBe(true);
  });
});

describe('dates that do not fit', () => {
  test.each([
    { of: 'a clock that was ahead', dates: [1, 9, 2, 3], misdated: [1] },
    { of: 'a clock that was slow', dates: [1, 2, 3, 0, 4], misdated: [3] },
    { of: 'a date after now', dates: [1, 2, 99], misdated: [2] },
    { of: 'no wrong clock', dates: [1, 2, 2, 3], misdated: [] },
  ])('$of: $misdated of $dates', ({ dates, misdated }) => {
    const runs = dates.map((hours) => ({ at: iso(NOON + hours * 3_600_000) }));
    expect([...misdatedRuns(runs, runTime(iso(NOON + 24 * 3_600_000)))]).toEqual(misdated);
  });
});

describe('lines of older versions', () => {
  const written = (...runs: readonly HistoryRun[]): string => {
    const root = tempDir();
    mkdirSync(root, { recursive: true });
    writeFileSync(join(root, 'runs.jsonl'), '');
    for (const run of runs) appendFileSync(join(root, 'runs.jsonl'), `${JSON.stringify(run)}\n`);
    return root;
  };

  test('a slow clock that found others there comes after them, and changes no date', () => {
    const root = written(
      runOf('r1', NOON),
      runOf('ahead', NOON + 30_000),
      runOf('r2', NOON + 20_000, { ahead: ['ahead'] }),
      runOf('slow', NOON - 10_000, { ahead: ['r1', 'ahead', 'r2'] }),
    );
    const { lines } = readRuns(root, NOON + 40_000);
    expect(ids(lines)).toEqual(['r1', 'ahead', 'r2', 'slow']);
    expect(lines.map(({ at }) => Date.parse(at) - NOON)).toEqual([0, 30_000, 20_000, -10_000]);
    const now = runTime(iso(NOON + 50_000));
    expect(placeAmong(seenInHistory(root), { time: now, now }) > placeOf(lines.at(-1)!)).toBe(true);
  });

  test('lines below one that is dated after now come after it', () => {
    const root = written(
      runOf('ahead', NOON + 86_400_000),
      runOf('r2', NOON + 20_000),
      runOf('r1', NOON),
    );
    expect(ids(readRuns(root, NOON + 40_000).lines)).toEqual(['ahead', 'r1', 'r2']);
  });

  test('stored runs of theirs are listed alike', () => {
    const root = tempDir();
    const [slow, first, ahead] = [NOON - 10_000, NOON, NOON + 30_000].map(
      (at) => `${runTime(iso(at))}-0000`,
    );
    for (const [id, found] of [[first], [ahead], [slow, [first, ahead]]] as [string, string[]?][]) {
      const header = {
        run_id: id,
        agent: 'shop',
        spec: { file: 'agentci_spec.yaml', hash: 'h' },
        started_at: iso(NOON),
      };
      RunStore.create(root, {
        ...header,
        ...(found === undefined ? {} : { ahead: found }),
      }).close();
    }
    expect(listRuns(root).map(({ id }) => id)).toEqual([slow, ahead, first]);
  });
});
