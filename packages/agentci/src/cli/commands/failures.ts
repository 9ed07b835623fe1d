import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { andMore, clip, escapeTerminalLine, plural } from '@agentci/lib/text';
import { groupCount } from '@agentci/reporters';
import type { RunResult } from '@agentci/results';
import { compareGroups, type FailureGroup, groupFailures } from '@agentci/results';
import {
  BaselineShelf,
  latestVerdicts,
  listRuns,
  readRun,
  readTracesOfQueries,
  type StoredRun,
  tracesOf,
} from '@agentci/run';
import { firstDivergence } from '@agentci/run/baseline';
import type { Suite } from '@agentci/spec';
import { loadSpec } from '@agentci/spec';
import { DEFAULT_SPEC, isRunOfFile, specPath } from '../../stored-runs/spec-folders.ts';
import { specRuns, storedRunId } from '../../stored-runs/stored-run.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';

const MAX_QUERIES = 8;
const MAX_EXAMPLE = 200;
const MAX_RERUN = 20;

interface Options {
  readonly config?: string;
  readonly run?: string;
  readonly before?: string;
  readonly json?: boolean;
}

/** A group with what was found out about it here. */
interface ToldGroup extends FailureGroup {
  readonly since: 'new' | 'known';
  readonly divergence?: string;
  readonly rerun: string;
}

export const command: CliCommand = {
  name: 'failures',
  summary: 'group the failures of a run by cause',
  configure: (parser) =>
    parser
      .option('-c, --config <file>', 'the spec whose runs to use (default: agentci_spec.yaml)')
      .option('--run <id>', 'the stored run (default: the newest finished one of the spec)')
      .option('--before <id>', 'the run to compare with (default: the last verdicts before it)')
      .option('--json', 'print the groups as JSON')
      .addHelpText(
        'after',
        `
Failures of the same check with the same finding are one group, whatever words and numbers differ. Each group says how
many queries it has, whether the run before had it, where a run first leaves its baseline, and how to run it again.

Example:
  agentci failures --run latest

Nothing is run or judged again, and the exit code only says whether the run could be read.`,
      ),
  run: async ({ options: given, io }) => {
    const { config, run: id, before, json } = given as Options;
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
    const told = groups.map(
      (group): ToldGroup => ({
        ...group,
        since: history.since.get(group.signature)!,
        divergence: divergences.has(group.signature)
          ? divergences.get(group.signature)!
          : undefined,
        rerun: rerunOf(group, config, header?.started_with?.traces),
      }),
    );
    const { gone, notRun } = history;
    io.stdout.write(
      json
        ? `${JSON.stringify({ schema: 'agentci.failures/1', run: runId, before: earlier ? earlier.id : undefined, groups: told, gone, not_run: notRun }, null, 2)}\n`
        : textOf({ run, before: earlier?.id, groups: told, gone, notRun }),
    );
    return 0;
  },
};

/** Verdicts to compare with, and the run that the newest of them is from. */
interface Earlier extends Pick<RunResult, 'results'> {
  readonly id: string;
}

const resultsOf = ({ run_id, results }: RunResult): Earlier => ({ id: run_id, results });

/** The last verdict on each query before a run, of the same spec: a run of a few queries says nothing about the others. */
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
  // An older run may be whole.
  const found = latestVerdicts(root, isBefore, undefined, { onDamaged: () => {} });
  return found === undefined ? undefined : { id: found.id, results: [...found.results.values()] };
}

const quote = (word: string): string =>
  /^[\w@%+=:./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** Of many queries `--failed` runs all that failed, which is more than the group; a shell takes no endless line. */
function rerunOf({ queries }: FailureGroup, config: string | undefined, traces: unknown): string {
  const spec = config === undefined || config === DEFAULT_SPEC ? '' : ` -c ${quote(config)}`;
  const recordings = typeof traces === 'string' ? ` --traces ${quote(traces)}` : '';
  const which = queries.length > MAX_RERUN ? '--failed' : `--ids ${queries.map(quote).join(',')}`;
  return `agentci test${spec}${recordings} ${which}`;
}

/** Where the first query of each group leaves its baseline. Nothing is said where there is no baseline or no trace. */
async function divergencesOf(
  groups: readonly FailureGroup[],
  place: { readonly config: string | undefined; readonly root: string; readonly runId: string },
  io: Io,
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  try {
    const { suite } = await loadSpec(specPath(place.config ?? DEFAULT_SPEC, io.cwd));
    const shelf = new BaselineShelf(suite, { dir: resolve(io.cwd, suite.dir, suite.baselineDir) });
    if (groups.length === 0 || !suite.queries.some((query) => shelf.has(query))) return found;
    const { byQuery } = await readTracesOfQueries(tracesOf(place.root, place.runId), suite);
    for (const { signature, queries } of groups) {
      const text = await divergenceOf(queries, suite, shelf, byQuery);
      if (text !== undefined) found.set(signature, text);
    }
  } catch (error) {
    // A spec or recordings that are gone leave the groups as they are.
    if (!(error instanceof UserError)) throw error;
  }
  return found;
}

async function divergenceOf(
  ids: readonly string[],
  suite: Suite,
  shelf: BaselineShelf,
  byQuery: Awaited<ReturnType<typeof readTracesOfQueries>>['byQuery'],
): Promise<string | undefined> {
  for (const id of ids) {
    const query = suite.queries.find((one) => one.id === id);
    const [trace] = byQuery.get(id) ?? [];
    if (query === undefined || trace === undefined || !shelf.has(query)) continue;
    const baseline = await shelf.get(query);
    if (baseline !== undefined)
      return `${id}: ${firstDivergence(baseline.trace, trace)} (baseline ${baseline.version})`;
  }
  return undefined;
}

function textOf(told: {
  readonly run: RunResult;
  readonly before: string | undefined;
  readonly groups: readonly ToldGroup[];
  readonly gone: readonly FailureGroup[];
  readonly notRun: readonly FailureGroup[];
}): string {
  const { run, before, groups, gone, notRun } = told;
  const failures = run.summary.failed + run.summary.errors;
  const found =
    groups.length === 0
      ? 'nothing failed'
      : `${plural(failures, 'failure')} in ${plural(groups.length, 'group')}`;
  const lines = [`run ${run.run_id}: ${found}`];
  for (const group of groups) {
    const age = before === undefined ? '' : `  ${group.since}`;
    lines.push('', `${group.signature}  ${groupCount(group)}  ${group.check}${age}`);
    if (group.title !== group.example) lines.push(`  ${clip(group.title, MAX_EXAMPLE)}`);
    const shown = group.title === group.example ? group.examples.slice(0, 1) : group.examples;
    for (const { query, message } of shown)
      lines.push(`  for example ${query}: ${clip(message, MAX_EXAMPLE)}`);
    if (group.queries.length > 1) lines.push(`  queries: ${andMore(group.queries, MAX_QUERIES)}`);
    if (group.divergence !== undefined) lines.push(`  first difference: ${group.divergence}`);
    const all = group.queries.length > MAX_RERUN ? '  (everything that failed)' : '';
    lines.push(`  run again: ${group.rerun}${all}`);
  }
  lines.push(
    ...listed(`gone since ${before}`, gone),
    ...listed('not all run this time, so not known', notRun),
  );
  return `${lines.map(escapeTerminalLine).join('\n')}\n`;
}

function listed(title: string, groups: readonly FailureGroup[]): string[] {
  if (groups.length === 0) return [];
  const lines = groups.map(
    (group) =>
      `  ${group.signature}  ${groupCount(group)}  ${group.check}: ${clip(group.example, MAX_EXAMPLE)}`,
  );
  return ['', `${title}:`, ...lines];
}
