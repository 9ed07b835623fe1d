import { UserError } from '@agentci/lib/problems';
import { type CaseName, caseKey, caseText } from '@agentci/results';
import type { Query, Suite } from '@agentci/spec';
import type { BaselineFile } from '../store/baseline-files.ts';
import { asksOther } from './choose-baselines.ts';

/** One file of a baseline version with its query in the spec. */
export interface VersionCase extends CaseName {
  readonly file: BaselineFile;
  readonly query?: Query;
  /** The reason why no query of the spec matches. */
  readonly why?: string;
}

/** A version of an agent, and the spec to judge it by. */
export interface VersionPlace {
  readonly dir: string;
  readonly agent: string;
  readonly version: string;
  readonly suite?: Suite | undefined;
}

/** The baselines of one version by `caseText`. An empty version is an error of the user. */
export function versionCases(
  files: readonly BaselineFile[],
  { dir, agent, version, suite }: VersionPlace,
): Map<string, VersionCase> {
  const ofVersion = files.filter((file) => file.version === version);
  if (ofVersion.length === 0) {
    const known = [...new Set(files.map((file) => file.version))];
    throw new UserError(
      'BASELINE_MISSING',
      `there is no baseline "${version}" of agent "${agent}" in ${dir}`,
      {
        hint:
          known.length > 0
            ? `There is: ${known.join(', ')}`
            : 'Save one with "agentci save" or "agentci record".',
      },
    );
  }
  const find = suite === undefined ? undefined : finderIn(suite);
  const cases = new Map<string, VersionCase>();
  for (const file of ofVersion) {
    const found = find?.(file) ?? { why: 'there is no spec to judge it by' };
    const name = found.query ?? { id: file.query_id ?? file.query, cell: file.cell };
    const key = caseText(name);
    // The newer form with a query id overrides a one-file baseline of the same query.
    if (!cases.has(key) || file.query_id !== undefined)
      cases.set(key, {
        id: name.id,
        cell: name.cell,
        file,
        ...found,
      });
  }
  return cases;
}

/** By id and cell, or by question for a file without them. */
function finderIn(suite: Suite): (file: BaselineFile) => Pick<VersionCase, 'query' | 'why'> {
  const byCase = new Map(suite.queries.map((query) => [caseKey(query), query]));
  const byText = new Map([...suite.queries].reverse().map((query) => [query.query, query]));
  return (file) => {
    const named =
      file.query_id === undefined
        ? undefined
        : byCase.get(caseKey({ id: file.query_id, cell: file.cell }));
    if (named !== undefined)
      return asksOther(file, named)
        ? { why: 'the spec asks another question under this id now' }
        : { query: named };
    const asked =
      suite.cells === undefined && file.cell === undefined ? byText.get(file.query) : undefined;
    return asked === undefined ? { why: 'the spec has no such query' } : { query: asked };
  };
}
