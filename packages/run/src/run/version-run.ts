import { costDetails } from '@agentci/checks';
import { present } from '@agentci/lib/data';
import { andMore } from '@agentci/lib/text';
import {
  caseKey,
  caseText,
  emptyLayer,
  type MetricResult,
  type QueryResult,
  RESULTS_SCHEMA,
  type RunResult,
  summarize,
  wholeResult,
} from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { finalText, type PriceLookup, quantityOf, totals } from '@agentci/trace';
import { needsCode } from './code-checks.ts';
import { evaluateRecorded } from './evaluate-recorded.ts';
import { needsPrices } from './evaluate-trace.ts';
import type { RunOptions } from './run-options.ts';
import type { VersionCase, VersionPlace } from './version-cases.ts';

const MAX_NAMED = 10;

/** A case of a version with its trace. */
export interface RecordedCase extends VersionCase {
  readonly trace: Trace;
}

/** Rubrics are judged only if a judge is given. Stored verdicts are enough and cost nothing. */
export interface VersionJudging
  extends Pick<RunOptions, 'judge' | 'judgeCacheDir' | 'env' | 'signal'> {
  /** Does not start any custom code. A query that needs it has no verdict. */
  readonly withoutCode?: boolean;
}

/**
 * A baseline version as a run with one recording per query, so that it is compared like a run. A
 * case that cannot be judged has the reason and its usage, but no verdict.
 */
export async function versionRun(
  cases: ReadonlyMap<string, RecordedCase>,
  { agent, version, suite }: Omit<VersionPlace, 'dir'>,
  { withoutCode = false, ...judging }: VersionJudging,
): Promise<RunResult> {
  const isLeft = (query: Query): boolean => !withoutCode || !needsCode(query);
  const judged =
    suite === undefined
      ? new Map<string, QueryResult>()
      : await evaluateRecorded(
          [...cases.values()].flatMap(({ query, trace }) =>
            query === undefined || !isLeft(query) ? [] : [{ queryId: caseKey(query), trace }],
          ),
          {
            judge: 'off',
            ...judging,
            suite: withoutCode
              ? { ...suite, queries: suite.queries.filter(isLeft), use: [] }
              : suite,
          },
        );
  const price = await pricesFor([...cases.values()]);
  const results = [...cases.values()].map((each): QueryResult => {
    const result = each.query && judged.get(caseKey(each.query));
    const whole =
      result === undefined
        ? unjudged(each, price)
        : expected(each, toldOfError(wholeResult(result)));
    return { ...whole, metrics: { ...whole.metrics, ...countsOf(each.trace, price) } };
  });
  return {
    schema: RESULTS_SCHEMA,
    agent,
    run_id: version,
    spec: { file: suite?.file ?? '', hash: suite?.hash ?? '' },
    judge: { calls: 0, cost_usd: null },
    checks: [],
    summary: summarize({ results, checks: [] }),
    results,
    notices: [],
  };
}

/** An error on a trace that cannot be judged differs from having nothing to judge. */
const toldOfError = (result: QueryResult): QueryResult =>
  result.error
    ? {
        ...result,
        correctness: { ...emptyLayer(), status: 'error', messages: [result.error.message] },
      }
    : result;

/** An expected failure is skipped, as in a run. */
const expected = ({ query }: RecordedCase, result: QueryResult): QueryResult =>
  query?.xfail === undefined || result.status !== 'fail'
    ? result
    : { ...result, status: 'skip', xfail: { reason: query.xfail, status: 'fail' } };

function unjudged(
  { id, cell, file, query, why, trace }: RecordedCase,
  price: PriceLookup | undefined,
): QueryResult {
  return {
    id,
    cell,
    query: query?.query ?? file.query,
    tags: [],
    status: 'skip',
    answer: finalText(trace) ?? null,
    skip: {
      reason: `not judged: ${why ?? 'its checks need code of your own, which is not run here'}`,
    },
    correctness: emptyLayer(),
    path: emptyLayer(),
    cost: { ...emptyLayer(), details: costDetails({ trace, totals: totalsOf(trace, price) }) },
    metrics: {},
  };
}

const totalsOf = (trace: Trace, price: PriceLookup | undefined) =>
  totals(trace, price ? { price } : {});

/** Counts for comparing two versions, besides cost, tokens and latency. */
function countsOf(trace: Trace, price: PriceLookup | undefined): Record<string, MetricResult> {
  const { toolCalls, llmCalls } = totalsOf(trace, price);
  const counts: Record<string, MetricResult> = {};
  for (const [name, quantity] of [
    ['llm_calls', llmCalls],
    ['tool_calls', toolCalls],
  ] as const) {
    const known = quantityOf(trace, quantity);
    if (known.exact) counts[name] = { value: known.value, detail: {} };
  }
  return counts;
}

/** The price table is large, so it is read only if some cost must be computed. */
export async function pricesFor(cases: readonly RecordedCase[]): Promise<PriceLookup | undefined> {
  if (!cases.some(({ trace }) => needsPrices(trace))) return undefined;
  const { loadPrices } = await import('@agentci/lib/prices');
  return (await loadPrices()).lookup;
}

/** Notices that qualify the verdicts on a version. */
export function versionNotices(
  cases: Iterable<VersionCase>,
  { version, suite }: Pick<VersionPlace, 'version' | 'suite'>,
): string[] {
  const files = [...cases];
  const forced = files.filter(({ file }) => file.metadata.forced).map(caseText);
  const isDrifted = files.some(
    ({ file: { metadata } }) =>
      suite !== undefined && metadata.spec_hash !== undefined && metadata.spec_hash !== suite.hash,
  );
  return present([
    forced.length > 0
      ? `${version} was saved by force for ${andMore(forced, MAX_NAMED)}`
      : undefined,
    isDrifted
      ? `the spec has changed since ${version} was captured; it is judged by the spec as it is now`
      : undefined,
  ]);
}
