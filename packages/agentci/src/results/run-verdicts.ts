import type { CheckStatus, QueryResult } from './run-result.ts';

/** Whether a status is a pass; undefined where nothing was decided. */
export const isPass = (status: CheckStatus): boolean | undefined =>
  status === 'pass' || status === 'warn' ? true : status === 'fail' ? false : undefined;

/** An expected failure that failed is still a failure here: it may have got better or worse. */
export const ownStatus = ({ status, xfail }: Pick<QueryResult, 'status' | 'xfail'>): CheckStatus =>
  xfail?.status ?? status;

/** Of every run of a query, in order: 1 passed, 0 failed, undefined where nothing was decided. */
export function verdictsOfRuns(result: Pick<QueryResult, 'status' | 'xfail' | 'runs'>): (number | undefined)[] {
  // A query that could not be judged says nothing, whatever became of some of its runs.
  if (result.status === 'error') return [];
  const statuses = result.runs?.map((run) => run.status) ?? [ownStatus(result)];
  return statuses.map((status) => {
    const passed = isPass(status);
    return passed === undefined ? undefined : passed ? 1 : 0;
  });
}

/** Every decided run of a query. Whatever compares two sides takes these. */
export const decidedRuns = (result: Pick<QueryResult, 'status' | 'xfail' | 'runs'>): number[] =>
  verdictsOfRuns(result).filter((verdict) => verdict !== undefined);
