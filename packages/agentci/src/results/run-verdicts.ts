import type { CheckStatus, QueryResult } from './run-result.ts';

/** Whether a status is a pass; undefined where nothing was decided. */
export const isPass = (status: CheckStatus): boolean | undefined =>
  status === 'pass' || status === 'warn' ? true : status === 'fail' ? false : undefined;

/** An expected failure that failed is still a failure here: it may have got better or worse. */
export const ownStatus = ({ status, xfail }: Pick<QueryResult, 'status' | 'xfail'>): CheckStatus =>
  xfail?.status ?? status;

/** Every decided run of a query: 1 passed, 0 failed. Whatever compares two sides takes these. */
export function decidedRuns(result: Pick<QueryResult, 'status' | 'xfail' | 'runs'>): number[] {
  // A query that could not be judged says nothing, whatever became of some of its runs.
  if (result.status === 'error') return [];
  const statuses = result.runs?.map((run) => run.status) ?? [ownStatus(result)];
  return statuses.flatMap((status) => {
    const passed = isPass(status);
    return passed === undefined ? [] : [passed ? 1 : 0];
  });
}
