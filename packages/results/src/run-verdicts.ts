import type { CheckStatus, QueryResult } from './run-result.ts';

/** Whether a status is a pass. Undefined if nothing was decided. */
export const isPass = (status: CheckStatus): boolean | undefined => {
  if (status === 'pass' || status === 'warn') return true;
  if (status === 'fail') return false;
  return undefined;
};

/** Failed as its `xfail` expects: put aside, in no pass rate, neither here nor in the summary. */
export const isExpectedFailure = ({
  status,
  xfail,
}: Pick<QueryResult, 'status' | 'xfail'>): boolean => xfail !== undefined && status === 'skip';

/** The agent's result, ignoring `xfail`. */
export const ownStatus = ({ status, xfail }: Pick<QueryResult, 'status' | 'xfail'>): CheckStatus =>
  xfail?.status ?? status;

/** Per repeat, in order: 1 passed, 0 failed, undefined if nothing was decided. */
export function verdictsOfRuns(
  result: Pick<QueryResult, 'status' | 'xfail' | 'runs'>,
): (number | undefined)[] {
  // A query that could not be judged says nothing, whatever became of some of its runs.
  if (result.status === 'error' || isExpectedFailure(result)) return [];
  const statuses = result.runs?.map((run) => run.status) ?? [ownStatus(result)];
  return statuses.map((status) => {
    const passed = isPass(status);
    if (passed === undefined) return undefined;
    if (passed) return 1;
    return 0;
  });
}

/** Every decided run of a query. Whatever compares two sides takes these. */
export const decidedRuns = (result: Pick<QueryResult, 'status' | 'xfail' | 'runs'>): number[] =>
  verdictsOfRuns(result).filter((verdict) => verdict !== undefined);
