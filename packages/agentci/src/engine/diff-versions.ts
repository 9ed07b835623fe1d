import type { Judged } from '../baseline/compare-traces.ts';
import { diffReport } from '../baseline/diff-report.ts';
import { defined } from '../kit/defined.ts';
import { UserError } from '../kit/user-error.ts';
import type { DiffReport, QueryDiff } from '../results/diff.ts';
import type { QueryResult } from '../results/run-result.ts';
import { emptyLayer } from '../results/status.ts';
import { wholeResult } from '../results/stored-result.ts';
import type { Query, Suite } from '../spec/suite.ts';
import { type BaselineFile, listBaselineFiles, readBaselineTrace, usableBaselines } from '../store/baseline-files.ts';
import type { Trace } from '../trace/model.ts';
import type { PriceLookup } from '../trace/totals.ts';
import { diffTraces } from './diff-traces.ts';
import { evaluateRecorded } from './evaluate-recorded.ts';
import { needsPrices } from './evaluate-trace.ts';
import type { RunOptions } from './run-options.ts';

/** Rubrics are judged only when a judge is given: stored verdicts do, and cost nothing. */
export interface DiffVersionsInput extends Pick<RunOptions, 'judge' | 'judgeCacheDir' | 'env' | 'signal'> {
  /** Without a spec there is no correctness to compare, only what happened. */
  readonly suite?: Suite;
  readonly agent: string;
  readonly dir: string;
  readonly baseline: string;
  readonly compare: string;
  /** Only this query, by id or text. */
  readonly query?: string;
  readonly maxRegressionPercent?: number;
}

/** Compares two baseline versions query by query. Queries are paired by id, never by their order. */
export async function diffVersions(input: DiffVersionsInput): Promise<DiffReport> {
  const list = listBaselineFiles(input.dir, input.agent);
  for (const version of [input.baseline, input.compare]) usableBaselines(list, version);
  const { files } = list;
  const sides = {
    before: sideOf(files, input.baseline, input),
    after: sideOf(files, input.compare, input),
  };
  const pairs: Pair[] = [];
  for (const [key, before] of sides.before) {
    const after = sides.after.get(key);
    if (after === undefined) continue;
    const query = input.suite && queryOf(before, input.suite);
    pairs.push({
      key,
      text: before.query,
      ...(query ? { query } : {}),
      before: await readBaselineTrace(before.file),
      after: await readBaselineTrace(after.file),
    });
  }
  if (pairs.length === 0) throw nothingToCompare(input, files);
  const price = await pricesFor(pairs);
  const judged = {
    before: await evaluateSide(pairs, 'before', input),
    after: await evaluateSide(pairs, 'after', input),
  };
  const queries = pairs.map((pair): QueryDiff => {
    const before = judged.before.get(pair.key);
    const after = judged.after.get(pair.key);
    const diff = diffTraces({
      before: pair.before,
      after: pair.after,
      ...(pair.query ? { query: pair.query } : {}),
      ...(before && after ? { judged: { before, after } } : {}),
      ...defined({ maxRegressionPercent: input.maxRegressionPercent }),
      ...(price ? { price } : {}),
    });
    return {
      id: pair.key,
      query: pair.text,
      ...(pair.query?.location ? { location: pair.query.location } : {}),
      ...diff,
    };
  });
  return diffReport({
    agent: input.agent,
    from_version: input.baseline,
    to_version: input.compare,
    ...(input.suite ? { spec: { file: input.suite.file, hash: input.suite.hash } } : {}),
    ...defined({ maxRegressionPercent: input.maxRegressionPercent }),
    queries,
    only_before: [...sides.before.keys()].filter((key) => !sides.after.has(key)),
    only_after: [...sides.after.keys()].filter((key) => !sides.before.has(key)),
    notices: [...noticesOf(sides, input), ...list.broken.map(({ error }) => error.message)],
  });
}

interface Pair {
  readonly key: string;
  readonly text: string;
  readonly query?: Query;
  readonly before: Trace;
  readonly after: Trace;
}

type Side = Map<string, BaselineFile>;

function sideOf(
  files: readonly BaselineFile[],
  version: string,
  { suite, query, agent, dir }: DiffVersionsInput,
): Side {
  const ofVersion = files.filter((file) => file.version === version);
  if (ofVersion.length === 0) {
    const known = [...new Set(files.map((file) => file.version))];
    throw new UserError('BASELINE_MISSING', `there is no baseline "${version}" of agent "${agent}" in ${dir}`, {
      hint: known.length > 0 ? `There is: ${known.join(', ')}` : 'Save one with "agentci save" or "agentci record".',
    });
  }
  const side: Side = new Map();
  for (const file of ofVersion) {
    const key = (suite && queryOf(file, suite)?.id) ?? file.query_id ?? file.query;
    if (query !== undefined && query !== key && query !== file.query) continue;
    // The newer form, which says its query's id, wins over a one-file baseline of the same query.
    if (!side.has(key) || file.query_id !== undefined) side.set(key, file);
  }
  return side;
}

const queryOf = (file: BaselineFile, suite: Suite): Query | undefined =>
  suite.queries.find((query) => query.id === file.query_id) ??
  suite.queries.find((query) => query.query === file.query);

async function evaluateSide(
  pairs: readonly Pair[],
  side: 'before' | 'after',
  { suite, judge = 'off', judgeCacheDir, env, signal }: DiffVersionsInput,
): Promise<Map<string, Judged>> {
  if (suite === undefined) return new Map();
  const known = pairs.filter((pair) => pair.query !== undefined);
  const results = await evaluateRecorded(
    known.map((pair) => ({ queryId: pair.key, trace: pair[side] })),
    {
      suite,
      judge,
      ...defined({ judgeCacheDir, env, signal }),
    },
  );
  return new Map([...results].map(([id, result]) => [id, toJudged(result)]));
}

/** A trace that cannot be judged has no verdict, which is not the same as nothing to judge. */
const toJudged = (result: QueryResult): Judged =>
  result.error
    ? { ...wholeResult(result), correctness: { ...emptyLayer(), status: 'error', messages: [result.error.message] } }
    : result;

async function pricesFor(pairs: readonly Pair[]): Promise<PriceLookup | undefined> {
  if (!pairs.some(({ before, after }) => needsPrices(before) || needsPrices(after))) return undefined;
  const { loadPrices } = await import('../kit/prices.ts');
  return (await loadPrices()).lookup;
}

function nothingToCompare({ query, ...input }: DiffVersionsInput, files: readonly BaselineFile[]): UserError {
  const { baseline, compare } = input;
  const list = (version: string) => [...sideOf(files, version, input).keys()].slice(0, 10).join(', ');
  return new UserError(
    'NOTHING_TO_COMPARE',
    query === undefined
      ? `baselines "${baseline}" and "${compare}" have no query in common`
      : `"${query}" is not in both baselines "${baseline}" and "${compare}"`,
    { hint: `${baseline} has: ${list(baseline)}; ${compare} has: ${list(compare)}` },
  );
}

function noticesOf(sides: { before: Side; after: Side }, { suite, baseline, compare }: DiffVersionsInput): string[] {
  const notices: string[] = [];
  for (const [version, side] of [
    [baseline, sides.before],
    [compare, sides.after],
  ] as const) {
    const files = [...side.values()];
    const forced = files.filter((file) => file.metadata.forced).map((file) => file.query_id ?? file.query);
    if (forced.length > 0) notices.push(`${version} was saved by force for ${forced.join(', ')}`);
    const drifted = files.some((file) => suite && file.metadata.spec_hash && file.metadata.spec_hash !== suite.hash);
    if (drifted)
      notices.push(
        `the spec has changed since ${version} was captured; both sides are judged by the spec as it is now`,
      );
  }
  return notices;
}
