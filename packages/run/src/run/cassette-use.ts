import type { CassetteUse, CheckResult, QueryResult } from '@agentci/results';
import { usedBy } from '@agentci/results';

/** Whether any call went to a paid model. */
export const spendsMoney = (use: CassetteUse): boolean => use.mode === 'record' || askedIn(use) > 0;

const askedIn = ({ asked, new: fresh = 0 }: CassetteUse): number => asked ?? fresh;

/** The total use of several runs or queries. Undefined if none had a cassette. */
export function sumUses(uses: readonly (CassetteUse | undefined)[]): CassetteUse | undefined {
  const all = uses.filter((use) => use !== undefined);
  const [first] = all;
  if (first === undefined) return undefined;
  const sum = (field: 'hits' | 'misses' | 'scrubbed' | 'unused'): number =>
    all.reduce((total, use) => total + use[field], 0);
  const fresh = all.reduce((total, use) => total + (use.new ?? 0), 0);
  const causes = [...new Set(all.flatMap((use) => use.causes ?? []))];
  return {
    mode: first.mode,
    hits: sum('hits'),
    misses: sum('misses'),
    scrubbed: sum('scrubbed'),
    unused: sum('unused'),
    user_hits: all.every(({ user_hits }) => user_hits === undefined)
      ? undefined
      : all.reduce((total, use) => total + (use.user_hits ?? 0), 0),
    ...sumOf('mcp_hits', all),
    ...sumOf('mcp_unused', all),
    ...(first.mode === 'replay'
      ? {}
      : { new: fresh, asked: all.reduce((total, use) => total + askedIn(use), 0) }),
    isolated: all.every(({ isolated }) => isolated),
    planes: [...new Set(all.flatMap(({ planes }) => planes))],
    ...(causes.length === 0 ? {} : { causes }),
  };
}

const sumOf = (
  key: 'mcp_hits' | 'mcp_unused',
  all: readonly CassetteUse[],
): Partial<CassetteUse> =>
  all.every((use) => use[key] === undefined)
    ? {}
    : { [key]: all.reduce((total, use) => total + (use[key] ?? 0), 0) };

/**
 * The use of the whole run, with the cost of its answers. A late call belongs to no query and was
 * not answered.
 */
export function runUse(
  results: readonly QueryResult[],
  hasLateCalls: boolean,
): CassetteUse | undefined {
  const played = results.filter(({ cassette }) => cassette !== undefined);
  const use = sumUses(played.map(({ cassette }) => cassette));
  if (use === undefined || use.mode === 'record') return use;
  const costs = played.filter(({ error }) => error === undefined).flatMap(costsOf);
  // The cost of calls in a query that could not be judged is in no result.
  const isWhole = played.every(
    ({ error, cassette }) => error === undefined || cassette!.hits === 0,
  );
  const known = isWhole && costs.every((cost) => typeof cost === 'number');
  const recorded = known ? costs.reduce<number>((sum, cost) => sum + (cost as number), 0) : null;
  const isFree = !played.some(({ cassette }) => spendsMoney(cassette!));
  return {
    ...use,
    isolated: use.isolated && !hasLateCalls,
    recorded_cost_usd: recorded,
    spent_usd: isFree ? 0 : null,
  };
}

function costsOf(result: QueryResult): (number | null | undefined)[] {
  const { runs } = result;
  if (runs !== undefined)
    return runs.map(({ error, cost_usd }) => (error === undefined ? cost_usd : null));
  return [usedBy(result).cost_usd];
}

/**
 * A replay that served nothing proves nothing, because the answer did not come from its cassettes.
 * The same holds for an empty recording.
 */
export function servedCheck(use: CassetteUse | undefined): CheckResult[] {
  if (use?.mode === 'record' && askedIn(use) === 0)
    return [
      {
        id: 'cassette.recorded',
        status: 'error',
        message:
          'no call of a model was recorded in the whole run: the agents did not ask a model, or reached it past the capture',
        value: 0,
        limit: 1,
        evidence: [],
      },
    ];
  if (use?.mode !== 'replay' || use.hits > 0 || use.misses > 0) return [];
  return [
    {
      id: 'cassette.served',
      status: 'error',
      message:
        'no recorded call was served in the whole run: the agents did not ask a model, or reached it past their cassettes',
      value: 0,
      limit: 1,
      evidence: [],
    },
  ];
}
