import { UserError } from '@agentci/lib/problems';
import type { DiffReport, QueryDiff, QueryResult, RunResult, TraceDiff } from '@agentci/results';
import { caseText, isExpectedFailure } from '@agentci/results';
import type { Suite } from '@agentci/spec';
import { compareRuns } from '../baseline/compare-runs.ts';
import { diffReport } from '../baseline/diff-report.ts';
import {
  type BaselineFile,
  listBaselineFiles,
  readBaselineTrace,
  usableBaselines,
} from '../store/baseline-files.ts';
import { diffTraces } from './diff-traces.ts';
import { type VersionCase, type VersionPlace, versionCases } from './version-cases.ts';
import {
  pricesFor,
  type RecordedCase,
  type VersionJudging,
  versionNotices,
  versionRun,
} from './version-run.ts';

export interface DiffVersionsInput extends Omit<VersionJudging, 'withoutCode'> {
  /** Without a spec there is no correctness to compare, only behavior. */
  readonly suite?: Suite;
  readonly agent: string;
  readonly dir: string;
  readonly baseline: string;
  readonly compare: string;
  /** Only this query, by id or text. */
  readonly query?: string;
  readonly maxRegressionPercent?: number;
}

/** Compares two baseline versions query by query. Pairs queries by id and cell, never by order. */
export async function diffVersions(input: DiffVersionsInput): Promise<DiffReport> {
  const list = listBaselineFiles(input.dir, input.agent);
  for (const version of [input.baseline, input.compare]) usableBaselines(list, version);
  const before = await sideOf(list.files, input.baseline, input);
  const after = await sideOf(list.files, input.compare, input);
  const shared = [...before.cases.keys()].filter((key) => after.cases.has(key));
  if (shared.length === 0) throw nothingToCompare(input, list.files);
  const price = await pricesFor([...before.cases.values(), ...after.cases.values()]);
  const queries = shared.map((key): QueryDiff => {
    const [was, is] = [before.cases.get(key)!, after.cases.get(key)!];
    // With the same spec it is the same query on both sides. A side with another question has no
    // verdict.
    const query = was.query && is.query;
    const diff = diffTraces({
      before: was.trace,
      after: is.trace,
      query,
      judged: query
        ? { before: before.results.get(key)!, after: after.results.get(key)! }
        : undefined,
      maxRegressionPercent: input.maxRegressionPercent,
      price,
    });
    return {
      id: key,
      query: was.file.query,
      location: query?.location ? query.location : undefined,
      ...(isExpectedFailure(after.results.get(key)!) ? asExpected(diff) : diff),
    };
  });
  return diffReport({
    agent: input.agent,
    from_version: input.baseline,
    to_version: input.compare,
    spec: input.suite ? { file: input.suite.file, hash: input.suite.hash } : undefined,
    maxRegressionPercent: input.maxRegressionPercent,
    queries,
    comparison: compareRuns({
      before: before.run,
      after: after.run,
      maxRegressionPercent: input.maxRegressionPercent,
    }),
    notices: [
      ...before.notices,
      ...after.notices,
      ...list.broken.map(({ error }) => error.message),
    ],
  });
}

/** An expected failure is not a regression. Its cost may still be one. */
function asExpected(diff: TraceDiff): TraceDiff {
  const regressions = diff.regressions.filter(({ limit_percent }) => limit_percent !== undefined);
  return { ...diff, regressions, has_regression: regressions.length > 0 };
}

interface Side {
  readonly cases: ReadonlyMap<string, RecordedCase>;
  readonly run: RunResult;
  readonly results: ReadonlyMap<string, QueryResult>;
  readonly notices: readonly string[];
}

async function sideOf(
  files: readonly BaselineFile[],
  version: string,
  input: DiffVersionsInput,
): Promise<Side> {
  const place: VersionPlace = { ...input, version };
  const cases = new Map<string, RecordedCase>();
  for (const [key, each] of chosenCases(files, place, input.query))
    cases.set(key, { ...each, trace: await readBaselineTrace(each.file.file) });
  const { judge, judgeCacheDir, env, signal } = input;
  const run = await versionRun(cases, place, { judge, judgeCacheDir, env, signal });
  return {
    cases,
    run,
    results: new Map(run.results.map((result) => [caseText(result), result])),
    notices: versionNotices(cases.values(), place),
  };
}

function chosenCases(
  files: readonly BaselineFile[],
  place: VersionPlace,
  query: string | undefined,
): [string, VersionCase][] {
  return [...versionCases(files, place)].filter(
    ([key, { id, file }]) => query === undefined || [key, id, file.query].includes(query),
  );
}

function nothingToCompare(
  { query, ...input }: DiffVersionsInput,
  files: readonly BaselineFile[],
): UserError {
  const { baseline, compare } = input;
  const list = (version: string) =>
    [...versionCases(files, { ...input, version }).keys()].slice(0, 10).join(', ');
  return new UserError(
    'NOTHING_FOUND',
    query === undefined
      ? `baselines "${baseline}" and "${compare}" have no query in common`
      : `"${query}" is not in both baselines "${baseline}" and "${compare}"`,
    { hint: `${baseline} has: ${list(baseline)}; ${compare} has: ${list(compare)}` },
  );
}
