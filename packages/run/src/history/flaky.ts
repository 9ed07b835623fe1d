import { type CaseName, type Cell, caseKey } from '@agentci/results';
import type { Interval } from '@agentci/stats';
import { wilsonInterval } from '@agentci/stats';
import type { HistoryQuery, HistoryRun } from './history-run.ts';

/** Minimum number of decided runs to call a query flaky or stable. */
export const FLAKY_MIN_RUNS = 5;

export interface FlakyQuery {
  readonly agent: string;
  /** File name of the spec. */
  readonly spec: string;
  readonly id: string;
  readonly cell?: Cell | undefined;
  /** Number of runs in which it was decided. */
  readonly runs: number;
  readonly passed: number;
  readonly decided: number;
  readonly rate: number;
  readonly interval: Interval;
  /** Number of verdict changes between consecutive runs. */
  readonly flips: number;
  /** It passed and failed with the same commit and spec, so nothing else changed. */
  readonly same_commit: boolean;
  /** The run in which its verdict first changed. */
  readonly since: { readonly run: string; readonly at: string };
}

export interface FlakyReport {
  readonly flaky: readonly FlakyQuery[];
  readonly steady: number;
  /** Number of queries with too few decided runs. */
  readonly too_few: number;
}

interface Seen {
  readonly name: CaseName & Pick<FlakyQuery, 'agent' | 'spec'>;
  readonly outcomes: {
    readonly run: HistoryRun;
    readonly passed: number;
    readonly decided: number;
  }[];
}

/**
 * Collects the verdicts of each query run by run, without keeping the runs of a large history.
 * Queries of different agents or specs are separate, even if their ids are equal.
 */
export class FlakyTally {
  readonly #cases = new Map<string, Seen>();

  add(run: HistoryRun, queries: readonly HistoryQuery[]): void {
    for (const { id, cell, passed, decided } of queries) {
      if (decided === 0) continue;
      const { agent, spec } = run;
      const name = { agent, spec, id, cell };
      const key = JSON.stringify([agent, spec, caseKey(name)]);
      const seen = this.#cases.get(key) ?? { name, outcomes: [] };
      seen.outcomes.push({ run, passed, decided });
      this.#cases.set(key, seen);
    }
  }

  /**
   * Queries with the most verdict changes first. A single change is a regression or a fix, not
   * flakiness.
   */
  report(): FlakyReport {
    const flaky: FlakyQuery[] = [];
    let steady = 0;
    let tooFew = 0;
    for (const seen of this.#cases.values()) {
      if (seen.outcomes.length < FLAKY_MIN_RUNS) tooFew++;
      else {
        const found = flakyOf(seen);
        if (found === undefined) steady++;
        else flaky.push(found);
      }
    }
    flaky.sort(
      (a, b) =>
        b.flips / b.runs - a.flips / a.runs || Math.abs(a.rate - 0.5) - Math.abs(b.rate - 0.5),
    );
    return { flaky, steady, too_few: tooFew };
  }
}

function flakyOf({ name, outcomes }: Seen): FlakyQuery | undefined {
  let flips = 0;
  let since: HistoryRun | undefined;
  let before: boolean | undefined;
  const byCommit = new Map<string, Set<boolean>>();
  let isMixed = false;
  for (const { run, passed, decided } of outcomes) {
    const isGood = passed === decided;
    if (passed > 0 && passed < decided) {
      isMixed = true;
      since ??= run;
    }
    if (before !== undefined && before !== isGood) {
      flips++;
      since ??= run;
    }
    before = isGood;
    if (run.commit === undefined) continue;
    const key = `${run.commit} ${run.hash}`;
    byCommit.set(key, (byCommit.get(key) ?? new Set()).add(isGood));
  }
  const isSameCommit = isMixed || [...byCommit.values()].some((verdicts) => verdicts.size === 2);
  if (since === undefined || (flips < 2 && !isSameCommit)) return undefined;
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
  const decided = outcomes.reduce((sum, outcome) => sum + outcome.decided, 0);
  return {
    ...name,
    runs: outcomes.length,
    passed,
    decided,
    rate: passed / decided,
    interval: wilsonInterval(passed, decided)!,
    flips,
    same_commit: isSameCommit,
    since: { run: since.id, at: since.at },
  };
}
