import { caseText } from '../results/cell.ts';
import { COMPARISON_SCHEMA, type RunComparison } from '../results/diff.ts';
import type { CheckStatus, QueryResult, RunResult } from '../results/run-result.ts';
import { type CompareOptions, compareMetrics, type Observation } from './compare-metrics.ts';

/** Compares two runs query by query and says of each metric: better, worse, no difference, or not settled by this much data. */
export function compareRuns(
  input: { readonly before: RunResult; readonly after: RunResult; readonly strict?: boolean } & CompareOptions,
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
  const statuses = shared.map((id) => ({ id, before: statusOf(a.get(id)!), after: statusOf(b.get(id)!) }));
  const regressions = statuses.filter(
    ({ before: was, after: is }) => passes(was) === true && passes(is) === false,
  ).length;
  // A query that passed and has no verdict now may fail.
  const cannotTell =
    shared.length === 0 || statuses.some(({ before: was, after: is }) => passes(was) === true && is === 'error');
  return {
    schema: COMPARISON_SCHEMA,
    agent: after.agent,
    before: before.run_id,
    after: after.run_id,
    metrics,
    flips: statuses.filter(
      ({ before: was, after: is }) =>
        passes(was) !== undefined && passes(is) !== undefined && passes(was) !== passes(is),
    ),
    only_before: [...a.keys()].filter((id) => !b.has(id)),
    only_after: [...b.keys()].filter((id) => !a.has(id)),
    undecided: shared.filter(
      (id) => observed.before.get(id)!.verdicts.length === 0 || observed.after.get(id)!.verdicts.length === 0,
    ),
    summary: {
      pairs: shared.length,
      better: count('better'),
      worse,
      inconclusive,
      regressions,
      exit_code: worse + regressions > 0 ? 1 : cannotTell || (strict && inconclusive > 0) ? 2 : 0,
    },
  };
}

/** An expected failure that failed is still a failure here: it may have got better or worse. */
const statusOf = (result: QueryResult): CheckStatus => result.xfail?.status ?? result.status;

const passes = (status: CheckStatus): boolean | undefined =>
  status === 'pass' || status === 'warn' ? true : status === 'fail' ? false : undefined;

interface Usage {
  readonly cost_usd?: number | null;
  readonly total_tokens?: number | null;
  readonly latency_ms?: number | null;
}

function observe(result: QueryResult): Observation {
  const usage: readonly Usage[] = result.runs ?? [(result.cost.details.actual as Usage | undefined) ?? {}];
  const statuses = result.runs?.map((run) => run.status) ?? [statusOf(result)];
  const metrics = new Map<string, readonly number[]>();
  for (const name of ['cost_usd', 'total_tokens', 'latency_ms'] as const) {
    const values = usage.map((run) => run[name]).filter(isNumber);
    if (values.length > 0) metrics.set(name, values);
  }
  for (const [name, { value }] of Object.entries(result.metrics)) if (isNumber(value)) metrics.set(name, [value]);
  const verdicts = statuses.flatMap((status) => {
    const passed = passes(status);
    return passed === undefined ? [] : [passed ? 1 : 0];
  });
  return { verdicts, metrics };
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
