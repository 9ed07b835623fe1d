import { basename } from 'node:path';
import { present } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { andMore, escapeTerminalLine, plural } from '@agentci/lib/text';
import type { HistoryQuery, HistoryRun } from '@agentci/run';
import {
  type AgentRun,
  ALL_BRANCHES,
  agentRuns,
  chooseRuns,
  historyRoot,
  isCut,
  type Lines,
  latestQueries,
  readQueries,
  readRuns,
  type Series,
  seriesOf,
  usualBranch,
} from '@agentci/run';
import { gitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';
import { specFolder } from '../stored-runs/spec-folders.ts';

export interface HistoryOptions {
  readonly config?: string;
  readonly branch?: string;
  readonly agent?: string;
  readonly last?: number;
  readonly cell?: readonly string[];
  readonly by?: string;
  readonly parquet?: string;
  readonly json?: boolean;
}

/** The runs that a history command reads. */
export interface ChosenRuns {
  readonly root: string;
  readonly runs: readonly HistoryRun[];
  /** Their branch. Undefined for all branches. */
  readonly branch?: string;
  /** Runs of other branches were left out. */
  readonly hasOtherBranches: boolean;
  /** Names the branch that was chosen from several, and relevant runs that were left out. */
  readonly note: string;
  /** Number of unreadable lines in the list of runs. */
  readonly unreadLines: number;
}

/** Reads the history next to a spec and selects runs. Skips unreadable entries and reports them. */
export function chosenRuns(
  { config, branch, agent, last }: HistoryOptions,
  io: Io,
  { isOfOneBranch = false }: { isOfOneBranch?: boolean } = {},
): ChosenRuns {
  const folder = specFolder(config, io);
  const root = historyRoot(folder);
  const read = readRuns(root, io.now());
  const all = readableLines(read, 'runs.jsonl', io);
  const { damaged: unreadLines } = read;
  if (all.length === 0)
    throw new UserError('NOTHING_FOUND', 'no history here yet', {
      hint: 'Every finished run adds to it. agentci history import adds runs of CI.',
    });
  const spec = config === undefined ? undefined : basename(config);
  const checkedOut = gitState(folder, io).branch;
  const usual = isOfOneBranch
    ? usualBranch(chooseRuns(all, { spec, agent }), checkedOut)
    : undefined;
  let on: string | undefined;
  if (branch === '.') on = checkedOut;
  else if (branch === ALL_BRANCHES) on = undefined;
  else on = branch ?? usual;
  const runs = chooseRuns(all, { branch: on, spec, agent, last });
  if (runs.length === 0)
    throw new UserError(
      'NOTHING_FOUND',
      `none of ${plural(all.length, 'run')} in the history fits`,
      {
        hint: `Branches: ${[...new Set(all.flatMap((run) => run.branch ?? []))].slice(-8).join(', ') || 'none is known'}`,
      },
    );
  const hasOtherBranches = on !== undefined && all.some((run) => run.branch !== on);
  const notes = present([
    branch === undefined && hasOtherBranches
      ? `on branch ${on}; --branch names another, "*" all`
      : undefined,
    ...(on === undefined ? [] : leftOut(chooseRuns(all, { spec, agent }))),
    unreadLines === 0
      ? undefined
      : `${plural(unreadLines, 'line')} of the history cannot be read: there were more runs than are counted here`,
  ]);
  const note = notes.map((each) => `${escapeTerminalLine(each)}\n`).join('');
  return {
    root,
    runs,
    note,
    unreadLines,
    hasOtherBranches,
    branch: on,
  };
}

/** Some runs have no branch, for example from JSON reports. Leaving one out may hide a failure. */
function leftOut(runs: readonly HistoryRun[]): string[] {
  const nameless = runs.filter(({ branch }) => branch === undefined).map(({ id }) => id);
  if (nameless.length === 0) return [];
  const [does, is] =
    nameless.length === 1 ? ['does not say its', 'is'] : ['do not say their', 'are'];
  return [
    `${plural(nameless.length, 'run')} ${does} branch and ${is} left out: ${andMore(nameless.toReversed(), 3)}; --branch "*" looks at all`,
  ];
}

/** The runs for a question about queries, by agent and spec. */
export interface ChosenSeries extends Omit<ChosenRuns, 'runs'> {
  readonly series: readonly Series[];
}

/** Like `chosenRuns`, grouped into agent runs. Defaults to one branch. */
export function chosenSeries({ last, ...options }: HistoryOptions, io: Io): ChosenSeries {
  const { runs, ...chosen } = chosenRuns(options, io, { isOfOneBranch: true });
  const all = agentRuns(runs);
  return { ...chosen, series: seriesOf(last === undefined ? all : all.slice(-last)) };
}

/** The queries of an agent run, each with its newest verdict. */
export interface QueriesRead {
  readonly queries: readonly HistoryQuery[];
  /** Some are unreadable or no longer kept. */
  readonly isCut: boolean;
}

/** Reads them and warns about unreadable lines. */
export function queriesOfAgentRun(root: string, run: AgentRun, io: Io): QueriesRead {
  let isWhole = true;
  const queries = latestQueries(run, (judgement) => {
    const read = readQueries(root, judgement.id);
    if (isCut(judgement, read)) isWhole = false;
    return read === undefined ? [] : readableLines(read, `${judgement.id}.jsonl`, io);
  });
  return { queries, isCut: !isWhole };
}

/** Returns the readable lines and warns about the others. */
export function readableLines<T>({ lines, damaged }: Lines<T>, file: string, io: Io): readonly T[] {
  if (damaged > 0)
    io.stderr.write(
      `agentci: ${plural(damaged, 'line')} of ${file} cannot be read and ${damaged === 1 ? 'is' : 'are'} skipped\n`,
    );
  return lines;
}
