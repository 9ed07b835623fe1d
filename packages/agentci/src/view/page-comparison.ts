import { comparedQuery, pageBefore } from '@agentci/reporters';
import type { PageBefore, RunResult } from '@agentci/results';
import { caseText } from '@agentci/results';
import { compareRuns } from '@agentci/run/baseline';
import type { OpenVersion } from './version-library.ts';

/** A run, or a baseline version in its form. */
export interface CompareSide {
  readonly id: string;
  readonly run: RunResult;
  readonly version?: OpenVersion;
}

/** The page data of two sides. The queries of an open run are already on the page. */
export function pageComparison(was: CompareSide, is: CompareSide): PageBefore {
  const comparison = compareRuns({ before: was.run, after: is.run });
  const before = pageBefore({
    run: was.run,
    comparison,
    tools: was.version ? was.version.tools : undefined,
  });
  const isOneAgent = was.run.agent === is.run.agent;
  const nameOf = ({ run, version }: CompareSide): string | undefined =>
    version &&
    (isOneAgent ? `baseline ${version.version}` : `baseline ${version.version} of ${run.agent}`);
  const [name, afterName] = [nameOf(was), nameOf(is)];
  const notices = [
    ...(was.version?.notices ?? []),
    ...(is.version?.notices ?? []),
    ...otherSpec(was, is),
  ];
  return {
    ...before,
    run_id: was.id,
    name: name ?? before.name,
    queries: name === undefined ? before.queries : withQuestions(was, before.queries),
    after:
      afterName === undefined
        ? before.after
        : { id: is.id, name: afterName, queries: withQuestions(is) },
    notices: notices.length === 0 ? before.notices : [...new Set(notices)],
  };
}

const withQuestions = (
  { run, version }: CompareSide,
  queries: PageBefore['queries'] = run.results.map((result) => [
    caseText(result),
    { ...comparedQuery(result), tools: version?.tools.get(caseText(result)) },
  ]),
): PageBefore['queries'] => {
  const asked = new Map(run.results.map((result) => [caseText(result), result.query]));
  return queries.map(([id, query]) => [id, { ...query, query: asked.get(id) ?? '' }]);
};

/** A run keeps its original verdicts. A version is judged now. */
function otherSpec(was: CompareSide, is: CompareSide): string[] {
  const [run, version] = was.version === undefined ? [was, is] : [is, was];
  if (run.version !== undefined || version.version === undefined) return [];
  const { hash } = version.run.spec;
  if (hash === '' || hash === run.run.spec.hash) return [];
  return [
    `run ${run.id} was judged by another state of the spec than baseline ${version.version.version}, which is judged by the spec as it is now: a verdict may differ for that reason alone`,
  ];
}
