import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RunOptions } from '../engine/run-options.ts';
import { runSuite } from '../engine/run-suite.ts';
import type { JudgeMode } from '../judge/mode.ts';
import { formatDiagnostic } from '../kit/diagnostic.ts';
import { escapeTerminal } from '../kit/escape.ts';
import { UserError } from '../kit/user-error.ts';
import type { RunResult } from '../results/run-result.ts';
import { loadSpec } from '../spec/load.ts';
import type { Suite } from '../spec/suite.ts';
import { type JournalEntry, latestResults, listRuns, RunStore, tracesOf } from '../store/run-store.ts';
import type { Io } from './io.ts';
import { planOutputs, suiteOutputs } from './outputs.ts';
import { startProgress } from './progress.ts';
import { specPath } from './spec-path.ts';
import { writeReports } from './write-reports.ts';

/** What `test` and `eval` can be told, after the words of the command line were read. */
export interface TestOptions {
  readonly config: string;
  readonly tags?: readonly string[];
  readonly filter?: string;
  readonly format?: readonly string[];
  readonly output?: readonly string[];
  readonly workers?: number;
  readonly runs?: number;
  readonly retries?: number;
  readonly timeout?: number;
  readonly traces?: string;
  readonly traceFormat?: string;
  readonly baseline?: string;
  readonly baselineDir?: string;
  readonly failed?: boolean;
  readonly judge?: JudgeMode;
  readonly sampleEnsemble?: number;
  readonly judgeCache?: string;
  readonly seed?: number;
  readonly maxCost?: number;
  readonly resume?: boolean;
  readonly failFast?: boolean;
  readonly strict?: boolean;
  readonly quiet?: boolean;
}

export const runsRoot = (cwd: string): string => join(cwd, '.agentci', 'runs');

/** Loads, runs, stores, reports; gives the exit code. */
export async function runTests(options: TestOptions, io: Io, commandName: 'test' | 'eval'): Promise<number> {
  const asked = planOutputs({ formats: options.format ?? [], files: options.output ?? [], env: io.env, cwd: io.cwd });
  const file = specPath(options.config, io.cwd);
  const { suite, diagnostics } = await loadSpec(file);
  if (!options.quiet)
    for (const warning of diagnostics) io.stderr.write(`${escapeTerminal(formatDiagnostic(warning))}\n`);
  if (options.traces !== undefined && !existsSync(resolve(io.cwd, options.traces))) {
    throw new UserError('TRACES_MISSING', `--traces: there is no file or folder "${options.traces}"`);
  }

  const isAsked = options.format !== undefined || options.output !== undefined;
  const plans = isAsked ? asked : [...asked, ...suiteOutputs(suite, io)];
  const root = runsRoot(io.cwd);
  const ids = options.failed ? failedIds(root, suite) : undefined;
  const { store, entries, runId } = openStore(root, suite, options, io);
  const recordings = recordingsOf(options, suite, io);
  if (recordings !== undefined) store?.judges(recordings);
  const progress = startProgress(io, { quiet: options.quiet ?? false });
  let run: RunResult;
  try {
    run = await runSuite({
      ...toRunOptions(options, suite, io),
      ...(ids ? { ids } : {}),
      runId,
      resumed: entries,
      onEvent: progress.onEvent,
      ...(store
        ? { onRecord: (entry, trace) => store.record(entry, recordings === undefined ? trace : undefined) }
        : {}),
    });
  } finally {
    progress.stop();
  }
  // An interrupted run stays open, so that --resume can go on with it.
  if (run.interrupted) store?.close();
  else store?.finish(run);

  const { failed } = await writeReports(run, plans, {
    io,
    quiet: options.quiet ?? false,
    rerunCommand: rerunCommand(options, file, commandName),
    ...tracesAt(store === undefined ? recordings : () => tracesOf(root, runId)),
  });
  // A report somebody asked for and did not get must not look like success.
  return failed && run.summary.exit_code === 0 ? 2 : run.summary.exit_code;
}

/** Where a report finds the traces; a report without them is still a report. */
export function tracesAt(find: string | undefined | (() => string)): { traces?: string } {
  try {
    const traces = typeof find === 'function' ? find() : find;
    return traces === undefined ? {} : { traces };
  } catch {
    return {};
  }
}

/** Where the recordings are, when nothing is to be run. */
function recordingsOf(options: TestOptions, suite: Suite, io: Io): string | undefined {
  if (options.traces !== undefined) return resolve(io.cwd, options.traces);
  return suite.runner?.kind === 'replay' ? resolve(suite.dir, suite.runner.replay) : undefined;
}

function toRunOptions(options: TestOptions, suite: Suite, io: Io): RunOptions {
  const given = {
    // As given: messages name the file the way the user does.
    traces: options.traces,
    format: options.traceFormat,
    tags: options.tags,
    filter: options.filter,
    workers: options.workers,
    runs: options.runs,
    retries: options.retries,
    timeoutMs: options.timeout,
    seed: options.seed,
    baseline: options.baseline,
    baselineDir: options.baselineDir === undefined ? undefined : resolve(io.cwd, options.baselineDir),
    judge: options.judge,
    sampleEnsemble: options.sampleEnsemble,
    judgeCacheDir: resolve(io.cwd, options.judgeCache ?? join('.agentci', 'judge-cache')),
    failFast: options.failFast,
    maxCostUsd: options.maxCost,
    strict: options.strict,
  };
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { suite, env: io.env, signal: io.signal, now: io.now, ...present };
}

function failedIds(root: string, suite: Suite): string[] {
  const previous = latestResults(root, suite.file);
  if (!previous) {
    throw new UserError('NO_PREVIOUS_RUN', `--failed: ${suite.file} has not been run here before`, {
      hint: 'Run it once without --failed.',
    });
  }
  const ids = suite.queries
    .map((query) => query.id)
    .filter((id) => {
      const status = previous.results.get(id)?.status;
      return status === 'fail' || status === 'error';
    });
  if (ids.length === 0) {
    throw new UserError(
      'NOTHING_FAILED',
      `--failed: nothing failed in the last run (${previous.id}), so there is nothing to run again`,
    );
  }
  return ids;
}

function openStore(
  root: string,
  suite: Suite,
  options: TestOptions,
  io: Io,
): { store?: RunStore; entries: JournalEntry[]; runId: string } {
  const durability = recordingsOf(options, suite, io) === undefined ? 'each' : 'batched';
  if (options.resume) {
    const unfinished = listRuns(root).find((run) => !run.finished && run.header.spec.file === suite.file);
    if (!unfinished) {
      throw new UserError('NOTHING_TO_RESUME', `--resume: ${suite.file} has no unfinished run here`, {
        hint: 'Run it without --resume.',
      });
    }
    if (unfinished.header.spec.hash !== suite.hash) {
      throw new UserError(
        'RESUME_SPEC_CHANGED',
        `--resume: the spec has changed since run ${unfinished.id} was started`,
        {
          hint: 'Its results would belong to another spec: start a new run without --resume.',
        },
      );
    }
    const { store, entries } = RunStore.reopen(root, unfinished.id, durability);
    return { store, entries, runId: unfinished.id };
  }
  const startedAt = new Date(io.now()).toISOString();
  const runId = newRunId(startedAt, io.random());
  try {
    const store = RunStore.create(
      root,
      {
        run_id: runId,
        agent: suite.agent,
        spec: { file: suite.file, hash: suite.hash },
        started_at: startedAt,
      },
      durability,
    );
    return { store, entries: [], runId };
  } catch (error) {
    // A read-only checkout can still be judged; it only cannot be resumed.
    io.stderr.write(`agentci: the run is not stored: ${(error as Error).message}\n`);
    return { entries: [], runId };
  }
}

/** `20261115-214012345-3f2a`: begins with the time to the millisecond, so that names sort by age. */
function newRunId(startedAt: string, chance: number): string {
  const [date = '', time = ''] = startedAt.replace(/[-:.Z]/g, '').split('T');
  return `${date}-${time}-${Math.floor(chance * 0x10000)
    .toString(16)
    .padStart(4, '0')}`;
}

function rerunCommand(options: TestOptions, file: string, commandName: string): string {
  const words = ['agentci', commandName];
  if (file !== 'agentci_spec.yaml') words.push('-c', quote(file));
  if (options.traces !== undefined) words.push('--traces', quote(options.traces));
  if (options.judge !== undefined) words.push('--judge', options.judge);
  return [...words, '--failed'].join(' ');
}

const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
