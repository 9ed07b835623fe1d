import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { caseKey, caseText, type QueryResult, sameCell } from '@agentci/results';
import {
  freshTraces,
  listRuns,
  readRun,
  readTracesOfQueries,
  type StoredRun,
  tracesOf,
} from '@agentci/run';
import { type Suite, selectQueries } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { gitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';
import { folderOf, isRunOf, runsRoot } from '../stored-runs/spec-folders.ts';
import { latestRun } from '../stored-runs/stored-run.ts';
import { cellsOf } from '../test-command/cell-option.ts';
import type { PlaceOptions } from './baseline-place.ts';
import { type Refused, refuseExisting, type SaveOptions } from './save-traces.ts';

export interface SaveFlags extends PlaceOptions, SaveOptions {
  readonly query?: string;
  readonly run?: string;
  readonly traceFile?: string;
  readonly traceFormat?: string;
  readonly timeout?: number;
  readonly cell?: readonly string[];
}

interface Found {
  readonly byQuery: ReadonlyMap<string, readonly Trace[]>;
  readonly refused?: readonly Refused[];
  readonly verdicts?: ReadonlyMap<string, QueryResult>;
}

export async function fromAgent(
  place: { suite: Suite; dir: string },
  id: string,
  options: SaveFlags,
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

export async function fromRecordings(
  suite: Suite,
  only: string | undefined,
  options: SaveFlags,
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
  const reported = refused.map(({ key: _, ...rest }) => rest);
  if (wanted.size === 0 && reported.length === 0) {
    throw new UserError(
      'NO_TRACE',
      `${source} has no trace of ${only === undefined ? 'any query' : `"${only}"`}`,
      {
        hint: 'Recordings are matched to queries by id, then by exact text.',
      },
    );
  }
  const verdicts = run === undefined ? undefined : verdictsOf(run, suite, io);
  return { byQuery: inSpecOrder(suite, wanted), refused: reported, verdicts };
}

/** The verdicts of a stored run, if the spec has not changed since. */
function verdictsOf(
  run: StoredRun,
  suite: Suite,
  io: Io,
): ReadonlyMap<string, QueryResult> | undefined {
  if (!run.finished || run.header.spec.hash !== suite.hash) return undefined;
  const { results } = readRun(runsRoot(folderOf(suite, io)), run.id);
  return new Map(results.map((result) => [caseKey(result), result]));
}

/** The queries of a stored run without a trace, with the reason. */
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
  options: SaveFlags,
  io: Io,
): { readonly source: string; readonly run?: StoredRun } {
  if (options.traceFile !== undefined) {
    const path = resolve(io.cwd, options.traceFile);
    if (!existsSync(path))
      throw new UserError(
        'TRACES_MISSING',
        `--trace-file: no file or folder "${options.traceFile}"`,
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
