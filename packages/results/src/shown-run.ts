import type { CheckStatus, QueryResult } from './run-result.ts';

const BADNESS: Record<CheckStatus, number> = { fail: 4, error: 3, warn: 2, pass: 1, skip: 0 };

/**
 * Index of the first of the worst runs, whose answer and layers are shown for a query with repeats.
 */
export const worstRun = (runs: readonly { readonly status: CheckStatus }[]): number =>
  runs.reduce((at, run, i) => (BADNESS[run.status] > BADNESS[runs[at]!.status] ? i : at), 0);

/**
 * `1 of 2 runs passed (min_pass_rate 50 %); shown: run 2, the worst`. Undefined without repeats.
 */
export function shownRunText({
  runs = [],
  pass_rate,
}: Pick<QueryResult, 'runs' | 'pass_rate'>): string | undefined {
  if (runs.length < 2 || pass_rate === undefined) return undefined;
  const { passed, decided, min } = pass_rate;
  const isSame = runs.every(({ status }) => status === runs[0]!.status);
  const shown = `run ${runs[worstRun(runs)]!.run}${isSame ? '' : ', the worst'}`;
  const share = Math.round(min * 1000) / 10;
  return `${passed} of ${decided} ${decided === 1 ? 'run' : 'runs'} passed (min_pass_rate ${share} %); shown: ${shown}`;
}
