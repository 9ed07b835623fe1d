import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import { RESULTS_SCHEMA, type RunResult, resultFault } from '@agentci/results';
import { isPart, listRuns, readRun, tracesOf } from '@agentci/run';
import { gitState } from '../ci/git-state.ts';
import type { Io } from '../cli/io.ts';
import type { FinishedRun } from '../notify/finished-run.ts';
import type { NotifyOptions } from '../notify/flags.ts';
import { prepareNotify } from '../notify/prepare.ts';
import { type LatestOptions, specRuns, storedRunId } from '../stored-runs/stored-run.ts';
import { storedCommand } from '../test-command/repeated-command.ts';
import { comparedWith, comparedWithBase, type RunBefore } from './base-run.ts';
import { planOutputs, refuseInputs } from './outputs.ts';
import { tracesAt, writeReports } from './write-reports.ts';

interface ReportFlags extends NotifyOptions {
  readonly config?: string;
  readonly run?: string;
  readonly input?: string;
  readonly traces?: string;
  readonly before?: string;
  readonly format?: readonly string[];
  readonly output?: readonly string[];
  readonly quiet?: boolean;
}

/** Renders a stored run or a results file. */
export async function reportStored(options: ReportFlags, io: Io): Promise<number> {
  const { config, run: id, input, traces, before, format, output, quiet } = options;
  if (id !== undefined && input !== undefined)
    throw new UserError('OPTIONS_CONFLICT', '--run and --input exclude each other');
  const plans = planOutputs({
    formats: format ?? [],
    files: output ?? [],
    env: io.env,
    cwd: io.cwd,
  });
  const notifyWith = await prepareNotify(plans, options, io);
  const { folder, root, latest } = specRuns(config, io);
  if (input !== undefined) refuseInputs(plans, [resolve(io.cwd, input)]);
  const run =
    input === undefined
      ? readRun(root, storedRunId(root, id, latest))
      : readResults(resolve(io.cwd, input), input, '--input');
  if (traces !== undefined && !existsSync(resolve(io.cwd, traces)))
    throw new UserError('TRACES_MISSING', `--traces: no file or folder "${traces}"`);
  const storedTraces = input === undefined ? () => tracesOf(root, run.run_id) : undefined;
  const { failed } = await writeReports(run, plans, {
    ...notifyWith?.(run, {
      folder,
      git: gitState(folder, io),
      ...aboutStored(root, run.run_id),
      io,
    }),
    io,
    quiet: quiet ?? false,
    ...commandOf(root, input === undefined ? run.run_id : undefined, traces, run, io),
    ...tracesAt(traces === undefined ? storedTraces : resolve(io.cwd, traces)),
    ...(before === undefined
      ? await comparedWithBase(run, { root, plans, isPart: isStoredPart(root, run.run_id), io })
      : { before: await comparedWith(runBefore(before, { root, latest, cwd: io.cwd }), run) }),
  });
  return failed ? 2 : 0;
}

/** Notification data of a stored run. */
function aboutStored(root: string, id: string): Pick<FinishedRun, 'part' | 'ran'> {
  const header = listRuns(root).find((stored) => stored.id === id)?.header;
  if (header === undefined) return {};
  const { judges, started_at, order } = header;
  return {
    part: isPart(header) ? {} : undefined,
    ran: judges ?? { at: started_at, order },
  };
}

/** Only some of its queries were selected. */
const isStoredPart = (root: string, id: string): boolean =>
  listRuns(root).some((stored) => stored.id === id && isPart(stored.header));

/**
 * The options of the original run. For a results file, only the spec and the given recordings are
 * known.
 */
function commandOf(
  root: string,
  id: string | undefined,
  traces: string | undefined,
  run: RunResult,
  io: Io,
): { command?: string } {
  const header =
    id === undefined ? undefined : listRuns(root).find((stored) => stored.id === id)?.header;
  if (header !== undefined) return { command: storedCommand(header, io.env) };
  return traces === undefined
    ? {}
    : { command: storedCommand({ spec: run.spec, started_with: { traces } }, io.env) };
}

/** A file if one exists with that name, else a stored run. */
function runBefore(
  given: string,
  { root, latest, cwd }: { root: string; latest: LatestOptions; cwd: string },
): RunBefore {
  const path = resolve(cwd, given);
  if (given.endsWith('.json') || existsSync(path))
    return { run: readResults(path, given, '--before') };
  const id = storedRunId(root, given, latest);
  return { run: readRun(root, id), ...tracesAt(() => tracesOf(root, id)) };
}

function readResults(path: string, given: string, option: string): RunResult {
  if (!existsSync(path)) throw new UserError('FILE_MISSING', `${option}: no file "${given}"`);
  let run: unknown;
  try {
    run = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new UserError('FILE_UNREADABLE', `${given} is not JSON: ${(error as Error).message}`);
  }
  if ((run as RunResult | null)?.schema !== RESULTS_SCHEMA) {
    throw new UserError(
      'FILE_UNREADABLE',
      `${given} is not a result of agentci (schema ${RESULTS_SCHEMA})`,
    );
  }
  const fault = resultFault(run);
  if (fault !== undefined)
    throw new UserError(
      'FILE_UNREADABLE',
      `${given} is not a whole result of agentci: it ${fault}`,
    );
  return run as RunResult;
}
