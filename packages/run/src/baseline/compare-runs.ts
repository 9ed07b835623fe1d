import { present } from '@agentci/lib/data';
import { plural } from '@agentci/lib/text';
import type { CheckStatus, QueryResult, RunResult } from '@agentci/results';
import {
  COMPARISON_SCHEMA,
  caseText,
  decidedRuns,
  isExpectedFailure,
  isPass,
  ownStatus,
  type RunComparison,
  summarizeComparison,
  verdictsOfRuns,
} from '@agentci/results';
import { type CompareOptions, compareMetrics, type Observation } from './compare-metrics.ts';

/**
 * Compares two runs query by query. Each metric is better, worse, no different, or inconclusive
 * with this much data.
 */
export function compareRuns(
  input: {
    readonly before: RunResult;
    readonly after: RunResult;
    readonly strict?: boolean;
  } & CompareOptions,
): RunComparison {
  const { before, after, strict, ...options } = input;
  const a = new Map(before.results.map((result) => [caseText(result), result]));
  const b = new Map(after.results.map((result) => [caseText(result), result]));
  const shared = [...a.keys()].filter((id) => b.has(id));
  const seen = (results: ReadonlyMap<string, QueryResult>) =>
    new Map(shared.map((id) => [id, observe(results.get(id)!)]));
  const observed = { before: seen(a), after: seen(b) };
  const metrics = compareMetrics(observed.before, observed.after, options);
  const count = (verdict: string) => metrics.filter((metric) => metric.verdict === verdict).length;
  const worse = count('worse');
  const inconclusive = count('inconclusive');
  const statuses = shared.map((id) => ({
    id,
    before: ownStatus(a.get(id)!),
    after: statusNow(b.get(id)!),
  }));
  const regressions = statuses.filter(isRegression).length;
  const lost_verdicts = statuses.filter(isLost).map(({ id }) => id);
  // A query that passed before and has no verdict now may fail.
  const cannotTell = shared.length === 0 || lost_verdicts.length > 0;
  const only_after = [...b.keys()].filter((id) => !a.has(id));
  const compared = {
    schema: COMPARISON_SCHEMA,
    agent: after.agent,
    before: before.run_id,
    after: after.run_id,
    metrics,
    flips: statuses.filter(isFlip),
    only_before: [...a.keys()].filter((id) => !b.has(id)),
    only_after,
    new_failing: only_after.filter((id) => FAILING.has(b.get(id)!.status)),
    lost_verdicts,
    undecided: shared.filter((id) =>
      [observed.before, observed.after].some((side) => side.get(id)!.verdicts.length === 0),
    ),
    summary: {
      pairs: shared.length,
      better: count('better'),
      worse,
      inconclusive,
      regressions,
      exit_code: exitCode({
        worse,
        regressions,
        cannotTell,
        isOpen: strict === true && metrics.some(isUnsettled),
      }),
    },
  } satisfies Omit<RunComparison, 'verdict' | 'headline'>;
  const { verdict, headline } = summarizeComparison(compared);
  const warned = statuses.filter(({ before: was, after: is }) => was === 'pass' && is === 'warn');
  return { ...compared, verdict, headline: present([warnedText(warned), headline]).join(' ') };
}

const MAX_NAMED = 3;

/** A new warning is certain, so it comes before open questions. */
function warnedText(warned: readonly { readonly id: string }[]): string | undefined {
  if (warned.length === 0) return undefined;
  const more = warned.length > MAX_NAMED ? ` and ${warned.length - MAX_NAMED} more` : '';
  const names = warned.slice(0, MAX_NAMED).map(({ id }) => JSON.stringify(id));
  return `${plural(warned.length, 'query', 'queries')} passed before and now ${warned.length === 1 ? 'warns' : 'warn'}: ${names.join(', ')}${more}.`;
}

interface StatusPair {
  readonly before: CheckStatus;
  readonly after: CheckStatus;
}

const isRegression = ({ before, after }: StatusPair): boolean =>
  isPass(before) === true && isPass(after) === false;

const isLost = ({ before, after }: StatusPair): boolean =>
  isPass(before) === true && after === 'error';

const isFlip = ({ before, after }: StatusPair): boolean =>
  isPass(before) !== undefined && isPass(after) !== undefined && isPass(before) !== isPass(after);

function exitCode(found: {
  readonly worse: number;
  readonly regressions: number;
  readonly cannotTell: boolean;
  readonly isOpen: boolean;
}): number {
  if (found.worse + found.regressions > 0) return 1;
  return found.cannotTell || found.isOpen ? 2 : 0;
}

/** An expected failure that is gone was fixed. A failure that is expected now broke nothing. */
const statusNow = (result: QueryResult): CheckStatus =>
  isExpectedFailure(result) ? result.status : ownStatus(result);

/** If a loss is ruled out, no more data is needed, even if the size of the gain is open. */
const isUnsettled = ({
  verdict,
  damage,
  max_drop,
  reason,
}: RunComparison['metrics'][number]): boolean =>
  verdict === 'inconclusive' &&
  reason !== 'identical' &&
  !(damage.high !== null && damage.high <= max_drop);

const FAILING = new Set<CheckStatus>(['fail', 'error']);

interface Usage {
  readonly cost_usd?: number | null;
  readonly total_tokens?: number | null;
  readonly latency_ms?: number | null;
}

function observe(result: QueryResult): Observation {
  const usage: readonly Usage[] = result.runs ?? [
    (result.cost.details.actual as Usage | undefined) ?? {},
  ];
  const metrics = new Map<string, readonly number[]>();
  for (const name of ['cost_usd', 'total_tokens', 'latency_ms'] as const) {
    const values = usage.map((run) => run[name]).filter(isNumber);
    if (values.length > 0) metrics.set(name, values);
  }
  for (const [name, { value }] of Object.entries(result.metrics))
    if (isNumber(value)) metrics.set(name, [value]);
  return { verdicts: decidedRuns(result), runs: verdictsOfRuns(result), metrics };
}

const isNumber = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value);
