import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import type { QueryResult } from '@agentci/results';
import { caseKey, caseText, sameCell } from '@agentci/results';
import {
  freshTraces,
  listRuns,
  readRun,
  readTracesOfQueries,
  type StoredRun,
  tracesOf,
} from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { selectQueries } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import {
  baselinePlace,
  type PlaceOptions,
  queryNamed,
} from '../../baseline-command/baseline-place.ts';
import {
  judgeOption,
  type Refused,
  refuseExisting,
  type SaveOptions,
  saveTraces,
} from '../../baseline-command/save-traces.ts';
import { gitState } from '../../ci/git-state.ts';
import { folderOf, isRunOf, runsRoot } from '../../stored-runs/spec-folders.ts';
import { latestRun } from '../../stored-runs/stored-run.ts';
import { cellsOf } from '../../test-command/cell-option.ts';
import type { CliCommand } from '../cli-command.ts';
import type { Io } from '../io.ts';
import { collect, duration } from '../options.ts';

interface Options extends PlaceOptions, SaveOptions {
  readonly query?: string;
  readonly run?: string;
  readonly traceFile?: string;
  readonly traceFormat?: string;
  readonly timeout?: number;
  readonly cell?: readonly string[];
}

export const command: CliCommand = {
  name: 'save',
  summary: 'save a run as the baseline to compare with',
  configure: (parser) => {
    parser
      .requiredOption('--version <name>', 'the version to save it under, for example v2-fixed')
      .option('-c, --config <file>', 'the spec (default: agentci_spec.yaml)')
      .option('--agent <name>', "the agent; it must be the spec's")
      .option(
        '--query <id or text>',
        'only this query; without --run and --trace-file the agent is run for it',
      )
      .option('--cell <name=value>', 'only this cell of the matrix (repeatable)', collect)
      .option('--run <id>', 'from a stored run (default, and "latest": the newest of this spec)')
      .option('--trace-file <path>', 'from recordings: a file or a folder')
      .option('--trace-format <format>', "the recordings' format, instead of detecting it")
      .option('--baseline-dir <dir>', "where baselines are, instead of the spec's baseline_dir")
      .option('--precheck-correctness', 'judge the trace by its checks first (always done)')
      .option('--precheck-judge', 'rubrics too (always done)')
      .addOption(judgeOption())
      .option(
        '--judge-cache <dir>',
        'where verdicts are stored (default: .agentci/judge-cache beside the spec)',
      )
      .option(
        '--force-save',
        'save it whatever the precheck says; the file says that it was forced',
      )
      .option('--overwrite', 'replace a baseline of the same version and query')
      .option(
        '--timeout <time>',
        'longest time for one query when the agent is run: 500ms, 30s, 2m',
        duration,
      )
      .option('--no-redact', 'keep what looks like a key or password as it is')
      .option('--json', 'say what was saved as JSON')
      .addHelpText(
        'after',
        `
Examples:
  agentci save --version v1                              every query of the newest run
  agentci save --version v1 --query install              run the agent for one query
  agentci save --version v1 --trace-file traces.jsonl    from recordings

Exit codes: 0 saved · 1 a precheck failed · 2 a precheck could not be decided, or a file exists already`,
      );
  },
  run: async ({ options: given, io }) => {
    const options = given as unknown as Options;
    if (options.run !== undefined && options.traceFile !== undefined)
      throw new UserError('OPTIONS_MIXED', '--run and --trace-file are two sources; give one');
    const place = await baselinePlace(options, io);
    const query = options.query === undefined ? undefined : queryNamed(place.suite, options.query);
    const isFresh =
      query !== undefined &&
      options.run === undefined &&
      options.traceFile === undefined &&
      place.suite.runner !== undefined;
    const found = isFresh
      ? await fromAgent(place, query.id, options, io)
      : await fromRecordings(place.suite, query?.id, options, io);
    return saveTraces({ ...place, ...found }, options, io);
  },
};

interface Found {
  readonly byQuery: ReadonlyMap<string, readonly Trace[]>;
  readonly refused?: readonly Refused[];
  readonly verdicts?: ReadonlyMap<string, QueryResult>;
}

async function fromAgent(
  place: { suite: Suite; dir: string },
  id: string,
  options: Options,
  io: Io,
): Promise<Found> {
  const cells = cellsOf(place.suite, options.cell);
  refuseExisting(selectQueries(place.suite, { ids: [id], cells }), place, options, io);
  const { byQuery, errors } = await freshTraces({
    suite: place.suite,
    ids: [id],
    cells,
    env: io.env,
    signal: io.signal,
    now: io.now,
    timeoutMs: options.timeout,
  });
  const refused = [...errors].map(([, { message }]) => ({
    query_id: id,
    code: 'NO_TRACE',
    message,
  }));
  return { byQuery, refused };
}

async function fromRecordings(
  suite: Suite,
  only: string | undefined,
  options: Options,
  io: Io,
): Promise<Found> {
  const { source, run } = sourceOf(suite, options, io);
  const cells = cellsOf(suite, options.cell);
  const selected = selectQueries(suite, { cells, ids: only === undefined ? undefined : [only] });
  const isOneCell =
    cells !== undefined && selected.every(({ cell }) => sameCell(cell, selected[0]?.cell));
  const { byQuery, unmatched } = await readTracesOfQueries(source, suite, {
    onlyQuery: only === undefined || selected.length !== 1 ? undefined : caseKey(selected[0]!),
    format: options.traceFormat,
    assumedCell: isOneCell ? selected[0]?.cell : undefined,
  });
  if (unmatched.length > 0 && !options.json)
    io.stderr.write(
      `agentci: recordings of no query of this spec: ${unmatched.slice(0, 5).join(', ')}\n`,
    );
  const keys = new Set(selected.map(caseKey));
  const wanted = new Map([...byQuery].filter(([key]) => keys.has(key)));
  const refused =
    run === undefined ? [] : erroredIn(run, suite, io, keys).filter(({ key }) => !byQuery.has(key));
  const told = refused.map(({ key: _, ...rest }) => rest);
  if (wanted.size === 0 && told.length === 0) {
    throw new UserError(
      'NO_TRACE',
      `${source} has no trace of ${only === undefined ? 'any query' : `"${only}"`}`,
      {
        hint: 'Recordings are matched to queries by id, then by exact text.',
      },
    );
  }
  const verdicts = run === undefined ? undefined : verdictsOf(run, suite, io);
  return { byQuery: inSpecOrder(suite, wanted), refused: told, verdicts };
}

/** The verdicts of a stored run, where they were given by the spec as it is now. */
function verdictsOf(
  run: StoredRun,
  suite: Suite,
  io: Io,
): ReadonlyMap<string, QueryResult> | undefined {
  if (!run.finished || run.header.spec.hash !== suite.hash) return undefined;
  const { results } = readRun(runsRoot(folderOf(suite, io)), run.id);
  return new Map(results.map((result) => [caseKey(result), result]));
}

/** The queries of a stored run that came to no trace, with the reason. */
function erroredIn(
  run: StoredRun,
  suite: Suite,
  io: Io,
  keys: ReadonlySet<string>,
): (Refused & { readonly key: string })[] {
  if (!run.finished) return [];
  return readRun(runsRoot(folderOf(suite, io)), run.id).results.flatMap((result) => {
    const { id, error } = result;
    const key = caseKey(result);
    if (error === undefined || !keys.has(key)) return [];
    return [
      {
        key,
        query_id: id,
        code: 'NO_TRACE',
        message: `"${caseText(result)}" is not saved: ${error.message}`,
      },
    ];
  });
}

function sourceOf(
  suite: Suite,
  options: Options,
  io: Io,
): { readonly source: string; readonly run?: StoredRun } {
  if (options.traceFile !== undefined) {
    const path = resolve(io.cwd, options.traceFile);
    if (!existsSync(path))
      throw new UserError(
        'TRACES_MISSING',
        `--trace-file: there is no file or folder "${options.traceFile}"`,
      );
    return { source: path };
  }
  const root = runsRoot(folderOf(suite, io));
  if (options.run !== undefined && options.run !== 'latest') {
    const run = listRuns(root).find(({ id }) => id === options.run);
    return { source: tracesOf(root, options.run), run };
  }
  const newest = latestRun(root, {
    isOurs: (run) => isRunOf(suite, run),
    branch: gitState(folderOf(suite, io), io).branch,
    withUnfinished: true,
  });
  if (newest === undefined) {
    throw new UserError(
      'NO_PREVIOUS_RUN',
      `${suite.file} has not been run here yet, so there is nothing to save`,
      {
        hint: 'Run "agentci test" first, or name recordings with --trace-file, or a query with --query.',
      },
    );
  }
  return { source: tracesOf(root, newest.id), run: newest };
}

const inSpecOrder = <T>(suite: Suite, found: ReadonlyMap<string, T>): Map<string, T> =>
  new Map(
    suite.queries.flatMap((query) => {
      const key = caseKey(query);
      return found.has(key) ? [[key, found.get(key)!] as const] : [];
    }),
  );
