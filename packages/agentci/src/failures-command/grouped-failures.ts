import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { compareGroups, type FailureGroup, groupFailures, type RunResult } from '@agentci/results';
import {
  BaselineSet,
  latestVerdicts,
  listRuns,
  readRun,
  readTracesOfQueries,
  type StoredRun,
  tracesOf,
} from '@agentci/run';
import { firstDivergence } from '@agentci/run/baseline';
import { loadSpec, type Suite } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import { DEFAULT_SPEC, isRunOfFile, specPath } from '../stored-runs/spec-folders.ts';
import { specRuns, storedRunId } from '../stored-runs/stored-run.ts';
import { type AnalyzedGroup, type GroupedFailures, MAX_RERUN } from './failures-text.ts';

interface FailuresFlags {
  readonly config?: string;
  readonly run?: string;
  readonly before?: string;
  readonly json?: boolean;
}

/** Groups the failures of a run by cause and compares them with earlier verdicts. */
export async function groupedFailures(
  { config, run: id, before }: FailuresFlags,
  io: Io,
): Promise<GroupedFailures> {
  const { root, latest } = specRuns(config, io);
  const runId = storedRunId(root, id, latest);
  const run = readRun(root, runId);
  const stored = listRuns(root);
  const header = stored.find((one) => one.id === runId)?.header;
  const earlier =
    before === undefined ? verdictsBefore(root, runId, stored) : resultsOf(readRun(root, before));
  const groups = groupFailures(run);
  const judged = new Set(
    run.results.filter(({ status }) => status !== 'skip').map((result) => result.id),
  );
  const history = compareGroups(
    earlier === undefined ? [] : groupFailures(earlier),
    groups,
    judged,
  );
  const divergences = await divergencesOf(groups, { config, root, runId }, io);
  const analyzed = groups.map(
    (group): AnalyzedGroup => ({
      ...group,
      since: history.since.get(group.signature)!,
      divergence: divergences.has(group.signature) ? divergences.get(group.signature)! : undefined,
      rerun: rerunOf(group, config, header?.started_with?.traces),
    }),
  );
  const { gone, notRun } = history;
  return { run, before: earlier?.id, groups: analyzed, gone, notRun };
}

/** Earlier verdicts, and the run of the newest of them. */
interface Earlier extends Pick<RunResult, 'results'> {
  readonly id: string;
}

const resultsOf = ({ run_id, results }: RunResult): Earlier => ({ id: run_id, results });

/**
 * The last verdict on each query before a run with the same spec. A run of a few queries does not
 * cover the others.
 */
function verdictsBefore(
  root: string,
  runId: string,
  stored: readonly StoredRun[],
): Earlier | undefined {
  const at = stored.findIndex(({ id }) => id === runId);
  const run = stored[at];
  if (run === undefined) return undefined;
  const older = new Set(stored.slice(at + 1).map(({ id }) => id));
  const isBefore = (one: StoredRun): boolean =>
    one.finished &&
    older.has(one.id) &&
    one.header.agent === run.header.agent &&
    isRunOfFile(run.header.spec.file, one);
  // An older run may be complete.
  const found = latestVerdicts(root, isBefore, undefined, { onDamaged: () => {} });
  return found === undefined ? undefined : { id: found.id, results: [...found.results.values()] };
}

const quote = (word: string): string =>
  /^[\w@%+=:./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * For many queries, uses `--failed`, which runs more than the group, because the length of a
 * command line is limited.
 */
function rerunOf({ queries }: FailureGroup, config: string | undefined, traces: unknown): string {
  const spec = config === undefined || config === DEFAULT_SPEC ? '' : ` -c ${quote(config)}`;
  const recordings = typeof traces === 'string' ? ` --traces ${quote(traces)}` : '';
  const which = queries.length > MAX_RERUN ? '--failed' : `--ids ${queries.map(quote).join(',')}`;
  return `agentci test${spec}${recordings} ${which}`;
}

/**
 * The first query of each group with its divergence from the baseline. Empty without a baseline or
 * a trace.
 */
async function divergencesOf(
  groups: readonly FailureGroup[],
  place: { readonly config: string | undefined; readonly root: string; readonly runId: string },
  io: Io,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  try {
    const { suite } = await loadSpec(specPath(place.config ?? DEFAULT_SPEC, io.cwd));
    const baselines = new BaselineSet(suite, {
      dir: resolve(io.cwd, suite.dir, suite.baselineDir),
    });
    if (groups.length === 0 || !suite.queries.some((query) => baselines.has(query))) return found;
    const { byQuery } = await readTracesOfQueries(tracesOf(place.root, place.runId), suite);
    for (const { signature, queries } of groups) {
      const text = await divergenceOf(queries, suite, baselines, byQuery);
      if (text !== undefined) found.set(signature, text);
    }
  } catch (error) {
    // If the spec or the recordings are missing, groups stay unchanged.
    if (!(error instanceof UserError)) throw error;
  }
  return found;
}

async function divergenceOf(
  ids: readonly string[],
  suite: Suite,
  baselines: BaselineSet,
  byQuery: Awaited<ReturnType<typeof readTracesOfQueries>>['byQuery'],
): Promise<string | undefined> {
  for (const id of ids) {
    const query = suite.queries.find((one) => one.id === id);
    const [trace] = byQuery.get(id) ?? [];
    if (query === undefined || trace === undefined || !baselines.has(query)) continue;
    const baseline = await baselines.get(query);
    if (baseline !== undefined)
      return `${id}: ${firstDivergence(baseline.trace, trace)} (baseline ${baseline.version})`;
  }
  return undefined;
}
