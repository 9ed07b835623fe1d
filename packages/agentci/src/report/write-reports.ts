import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { appendFile, writeFileAtomic } from '@agentci/lib/files';
import { maskText } from '@agentci/lib/secrets';
import { escapeTerminalLine } from '@agentci/lib/text';
import { countLine, exitLine, reportPieces, reportText } from '@agentci/reporters';
import type { RunResult } from '@agentci/results';
import { createColors } from 'picocolors';
import { jobUrl, lineUrl } from '../ci/ci-run.ts';
import { type Io, wantsColor } from '../cli/io.ts';
import type { Channel } from '../notify/channels.ts';
import type { NotifyPlan } from '../notify/plan.ts';
import type { OutputPlan } from './outputs.ts';
import { type RenderOptions, renderReport } from './render-report.ts';

interface WriteOptions
  extends Pick<RenderOptions, 'rerunCommand' | 'command' | 'before' | 'quiet' | 'traces'> {
  readonly io: Io;
  /** Messages to send. Absent if none. */
  readonly notify?: NotifyPlan;
}

/**
 * Writes every report. A failing report is named, and neither the other reports nor the verdict are
 * lost.
 */
export async function writeReports(
  run: RunResult,
  plans: readonly OutputPlan[],
  { io, notify, ...about }: WriteOptions,
): Promise<{ failed: boolean }> {
  const stepSummary = io.env.GITHUB_STEP_SUMMARY;
  let failed = false;
  const written: string[] = [];
  for (const plan of plans) {
    if (plan.sentTo !== undefined && notify?.isDue(run, plan.sentTo) !== true) continue;
    try {
      const report = await renderReport(run, {
        format: plan.reporter,
        dir: io.cwd,
        color: plan.file === undefined && wantsColor(io.stdout, io.env),
        columns: io.stdout.columns,
        hasStepSummary: stepSummary !== undefined && stepSummary !== '',
        publicPath: (file) => publicPath(file, io),
        lineUrl: (file, line) => lineUrl(io.env, repositoryPath(file, io), line),
        jobUrl: jobUrl(io.env),
        version: io.version,
        notify: notify?.contextFor(plan.sentTo),
        ...about,
      });
      if (plan.sentTo !== undefined) {
        notify?.settle(plan.sentTo, await notifyChannel(plan.sentTo, reportText(report), io));
        continue;
      }
      if (plan.file === undefined) for (const piece of reportPieces(report)) io.stdout.write(piece);
      else {
        writeFileAtomic(plan.file, report.text, { isSynced: false });
        written.push(plan.file);
      }
      if (report.stepSummary !== undefined && stepSummary)
        appendFile(stepSummary, maskText(report.stepSummary));
    } catch (error) {
      failed = true;
      io.stderr.write(
        `agentci: the ${plan.reporter} report could not be written: ${(error as Error).message}\n`,
      );
    }
  }
  close(run, plans, written, io);
  return { failed };
}

const NOTIFY_FAILED = 'NOTIFY_FAILED';

/**
 * Returns whether a message was delivered. A failure is a warning and must not change the verdict.
 */
async function notifyChannel(channel: Channel, text: string, io: Io): Promise<boolean> {
  const { sendNotice } = await import('../notify/send.ts');
  const reason = await sendNotice(channel, maskText(text), io);
  if (reason === undefined) io.stderr.write(`notified: ${channel}\n`);
  else
    io.stderr.write(
      `agentci: warning: ${channel} was not notified: ${escapeTerminalLine(reason)} [${NOTIFY_FAILED}]\n`,
    );
  return reason === undefined;
}

/** Prints the verdict and the report paths. They go to stderr if stdout has a document. */
function close(
  run: RunResult,
  plans: readonly OutputPlan[],
  written: readonly string[],
  io: Io,
): void {
  const hasConsole = plans.some(
    ({ reporter, file }) => reporter === 'console' && file === undefined,
  );
  const output = hasConsole ? io.stdout : io.stderr;
  const c = createColors(wantsColor(output, io.env));
  if (!hasConsole) output.write(`${countLine(run, c)}\n${exitLine(run, c)}\n`);
  for (const file of written)
    output.write(`${c.dim('report:')} ${escapeTerminalLine(shortPath(file, io))}\n`);
}

/** The shortest path from the working directory. */
function shortPath(file: string, { cwd }: Io): string {
  const path = relative(cwd, file);
  return path === '' || path.startsWith('..') || isAbsolute(path) ? file : path;
}

/** Annotations need paths relative to the checkout's root, independent of the working directory. */
export function publicPath(file: string, io: Io): string {
  const root = io.env.GITHUB_WORKSPACE;
  return root ? pathFrom(root, file, io) : file;
}

/** Repository URLs need paths relative to the root, independent of the working directory. */
function repositoryPath(file: string, io: Io): string {
  const root = io.env.GITHUB_WORKSPACE || repositoryRoot(io.cwd);
  return root ? pathFrom(root, file, io) : file;
}

function repositoryRoot(folder: string): string | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return undefined;
  }
}

function pathFrom(root: string, file: string, io: Io): string {
  const path = relative(root, resolve(io.cwd, file));
  return path.startsWith('..') || isAbsolute(path) ? file : path.split(sep).join('/');
}

/**
 * Location of the traces for a report. Undefined if they are missing, because a report works
 * without them.
 */
export function tracesAt(find: string | undefined | (() => string)): { traces?: string } {
  try {
    const traces = typeof find === 'function' ? find() : find;
    return traces === undefined ? {} : { traces };
  } catch {
    return {};
  }
}
