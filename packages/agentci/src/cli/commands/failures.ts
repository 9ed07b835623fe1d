import { resolve } from 'node:path';
import { firstDivergence } from '../../baseline/first-divergence.ts';
import { BaselineShelf } from '../../engine/choose-baselines.ts';
import { readTracesOfQueries } from '../../engine/traces-of-queries.ts';
import { escapeTerminalLine } from '../../kit/escape.ts';
import { UserError } from '../../kit/user-error.ts';
import { andMore, clip, plural } from '../../kit/words.ts';
import { compareGroups, type FailureGroup, groupFailures } from '../../results/failure-groups.ts';
import type { RunResult } from '../../results/run-result.ts';
import { loadSpec } from '../../spec/load.ts';
import type { Suite } from '../../spec/suite.ts';
import { listRuns, readRun, tracesOf } from '../../store/stored-runs.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { DEFAULT_SPEC, runsRoot, specFolder } from '../spec-folders.ts';
import { specPath } from '../spec-path.ts';
import { storedRunId } from '../stored-run.ts';

const MAX_QUERIES = 8;
const MAX_EXAMPLE = 200;

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
      .option('--run <id>', 'the stored run (default: the newest finished one)')
      .option('--before <id>', 'the run to compare with (default: the one before it)')
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
    const root = runsRoot(specFolder(config, io));
    const runId = storedRunId(root, id);
    const run = readRun(root, runId);
    const earlier = before === undefined ? previousRun(root, run) : readRun(root, before);
    const groups = groupFailures(run);
    const old = earlier === undefined ? [] : groupFailures(earlier);
    const since = compareGroups(old, groups);
    const divergences = await divergencesOf(groups, { config, root, runId }, io);
    const told = groups.map(
      (group): ToldGroup => ({
        ...group,
        since: since.get(group.signature) === 'known' ? 'known' : 'new',
        ...(divergences.has(group.signature) ? { divergence: divergences.get(group.signature)! } : {}),
        rerun: rerunOf(group, config),
      }),
    );
    const gone = old.filter(({ signature }) => since.get(signature) === 'gone');
    io.stdout.write(
      json
        ? `${JSON.stringify({ schema: 'agentci.failures/1', run: runId, ...(earlier ? { before: earlier.run_id } : {}), groups: told, gone }, null, 2)}\n`
        : textOf({ run, earlier, groups: told, gone }),
    );
    return 0;
  },
};

/** The finished run of the same spec before this one. */
function previousRun(root: string, run: RunResult): RunResult | undefined {
  const runs = listRuns(root).filter(({ finished, header }) => finished && header.agent === run.agent);
  const at = runs.findIndex(({ id }) => id === run.run_id);
  const previous = at < 0 ? undefined : runs[at + 1];
  return previous === undefined ? undefined : readRun(root, previous.id);
}

const quote = (word: string): string => (/^[\w@%+=:./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

function rerunOf({ queries }: FailureGroup, config: string | undefined): string {
  const spec = config === undefined || config === DEFAULT_SPEC ? '' : ` -c ${quote(config)}`;
  return `agentci test${spec} --ids ${queries.map(quote).join(',')}`;
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
  readonly earlier: RunResult | undefined;
  readonly groups: readonly ToldGroup[];
  readonly gone: readonly FailureGroup[];
}): string {
  const { run, earlier, groups, gone } = told;
  const failures = run.summary.failed + run.summary.errors;
  if (groups.length === 0) return `run ${run.run_id}: nothing failed\n`;
  const lines = [`run ${run.run_id}: ${plural(failures, 'failure')} in ${plural(groups.length, 'group')}`];
  for (const group of groups) {
    const age = earlier === undefined ? '' : `  ${group.since}`;
    lines.push('', `${group.signature}  ${plural(group.queries.length, 'query', 'queries')}  ${group.check}${age}`);
    lines.push(`  ${clip(group.pattern, MAX_EXAMPLE)}`);
    lines.push(`  for example ${group.queries[0]}: ${clip(group.example, MAX_EXAMPLE)}`);
    if (group.queries.length > 1) lines.push(`  queries: ${andMore(group.queries, MAX_QUERIES)}`);
    if (group.divergence !== undefined) lines.push(`  first difference: ${group.divergence}`);
    lines.push(`  run again: ${clip(group.rerun, MAX_EXAMPLE * 2)}`);
  }
  if (gone.length > 0) {
    lines.push('', `gone since ${earlier!.run_id}:`);
    for (const { signature, check, pattern } of gone)
      lines.push(`  ${signature}  ${check}: ${clip(pattern, MAX_EXAMPLE)}`);
  }
  return `${lines.map(escapeTerminalLine).join('\n')}\n`;
}
