import { UserError } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';
import { caseKey } from '@agentci/results';
import type { Query, Suite } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import {
  type BaselineFile,
  listBaselineFiles,
  readBaselineTrace,
  usableBaselines,
} from '../store/baseline-files.ts';

export interface ChosenBaseline {
  readonly version: string;
  readonly file: string;
  readonly trace: Trace;
}

/** The baseline operations of a run. */
export type BaselineLookup = Pick<BaselineSet, 'has' | 'get' | 'notices'>;

/**
 * Provides the baseline of a query: the requested version, otherwise the newest that passed its
 * precheck.
 */
export class BaselineSet {
  readonly #chosen = new Map<string, BaselineFile>();
  readonly notices: string[] = [];

  /** For traces that are judged without baselines. */
  static readonly empty: BaselineLookup = {
    has: () => false,
    get: () => Promise.resolve(undefined),
    notices: [],
  };

  constructor(suite: Suite, options: { dir: string; version?: string | undefined }) {
    const version = options.version ?? suite.baseline;
    const list = listBaselineFiles(options.dir, suite.agent);
    const files = usableBaselines(list, version);
    for (const { error } of list.broken) this.notices.push(error.message);
    refuseMissing(files, version, { agent: suite.agent, dir: options.dir });
    const byId = new Map(suite.queries.map((query) => [caseKey(query), query]));
    const byText = new Map([...suite.queries].reverse().map((query) => [query.query, query]));
    const ids = suite.cells === undefined ? undefined : new Set(suite.queries.map(({ id }) => id));
    for (const file of files) {
      // Runs of different cells are not comparable, even if the question is the same.
      const named =
        file.query_id === undefined
          ? undefined
          : byId.get(caseKey({ id: file.query_id, cell: file.cell }));
      const query =
        named ??
        (suite.cells === undefined && file.cell === undefined ? byText.get(file.query) : undefined);
      const why = whyUnused(file, query, ids);
      if (why !== undefined) this.notices.push(why);
      if (query === undefined || why !== undefined) continue;
      // A forced baseline did not pass its precheck, so it counts only if requested by name.
      const usable =
        version === undefined
          ? file.metadata.precheck_passed === true && !file.metadata.forced
          : file.version === version;
      if (!usable) continue;
      const current = this.#chosen.get(caseKey(query));
      if (current && (current.captured_at ?? '') >= (file.captured_at ?? '')) continue;
      this.#chosen.set(caseKey(query), file);
    }
    // Only for baselines in use. An older one may belong to any spec.
    const drifted = [...this.#chosen.values()].filter(
      ({ metadata: { spec_hash } }) => spec_hash !== undefined && spec_hash !== suite.hash,
    );
    for (const name of new Set(drifted.map((file) => file.version)))
      this.notices.push(`the spec has changed since baseline ${name} was captured`);
  }

  has = (query: Query): boolean => this.#chosen.has(caseKey(query));

  async get(query: Query): Promise<ChosenBaseline | undefined> {
    const file = this.#chosen.get(caseKey(query));
    if (!file) return undefined;
    return { version: file.version, file: file.file, trace: await readBaselineTrace(file.file) };
  }
}

function refuseMissing(
  files: readonly BaselineFile[],
  version: string | undefined,
  { agent, dir }: { readonly agent: string; readonly dir: string },
): void {
  if (version === undefined || files.some((file) => file.version === version)) return;
  const known = [...new Set(files.map((file) => file.version))];
  throw new UserError(
    'BASELINE_MISSING',
    `there is no baseline "${version}" of agent "${agent}" in ${dir}`,
    {
      hint:
        known.length > 0
          ? `There is: ${known.join(', ')}`
          : 'No baseline has been saved for this agent yet.',
    },
  );
}

/** Explains to the user why a baseline is not used. */
function whyUnused(
  file: BaselineFile,
  query: Query | undefined,
  ids: ReadonlySet<string> | undefined,
): string | undefined {
  if (!query && file.query_id !== undefined && ids?.has(file.query_id)) {
    const why =
      file.cell === undefined
        ? 'says no cell of the matrix'
        : 'is of a cell that is no longer in the matrix';
    return `baseline ${file.file} ${why}, so nothing is compared with it: save it again`;
  }
  if (!query)
    return file.query_id === undefined && file.query === ''
      ? `baseline ${file.file} does not say which query it is of`
      : `baseline ${file.file} is of a query that is no longer in the spec`;
  if (asksOther(file, query))
    return `baseline ${file.file} is of another question than "${query.id}" asks now, so it is not compared with: save it again`;
  return undefined;
}

/**
 * The file has the query's id but another question: the spec changed, or the file was edited by
 * hand.
 */
export const asksOther = ({ query: asked }: BaselineFile, { query }: Query): boolean =>
  asked !== '' && plain(asked) !== plain(query) && asked !== SECRETS.document(query);

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
