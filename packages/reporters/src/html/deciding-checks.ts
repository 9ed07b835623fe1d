import { type CheckResult, LAYERS, type Layer, type QueryResult } from '@agentci/results';

/** The checks with the query's status, and their layers. None if it passed or was skipped. */
export function decidingChecks(result: QueryResult): { layer: Layer; check: CheckResult }[] {
  const status = result.xfail?.status ?? result.status;
  if (status === 'pass' || status === 'skip') return [];
  return LAYERS.flatMap((layer) =>
    result[layer].checks
      .filter((check) => check.status === status)
      .map((check) => ({ layer, check })),
  );
}

/** Why a query ended as it did, in one line. Undefined if it passed. */
export function reasonOf(result: QueryResult): string | undefined {
  const [first, ...rest] = decidingChecks(result);
  const reason =
    result.error?.message ?? result.not_run ?? result.skip?.reason ?? result.xfail?.reason;
  if (first === undefined || result.error !== undefined) return reason;
  return rest.length === 0
    ? first.check.message
    : `${first.check.message} (and ${rest.length} more)`;
}
