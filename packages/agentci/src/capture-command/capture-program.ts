import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type AgentEnd, type CaptureSlot, createCapture } from '@agentci/capture';
import { present } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { escapeTerminalLine } from '@agentci/lib/text';
import type { CassetteChoice } from '@agentci/run';
import { CAPTURE_PLANES, type CapturePlane } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import type { Io } from '../cli/io.ts';
import { cassetteLines, openCassette } from './capture-cassette.ts';
import { CaptureFolder } from './folder.ts';
import { maskArguments } from './mask-arguments.ts';
import { type ChildEnd, exitCodeOf, runChild } from './run-child.ts';
import { summarizeCapture, summaryLines } from './summary.ts';

interface CaptureFlags {
  readonly out?: string;
  readonly planes?: readonly string[];
  readonly provider?: readonly string[];
  readonly upstream?: readonly string[];
  readonly query?: string;
  readonly mcpConfig?: string;
  readonly envOnly?: boolean;
  readonly json?: boolean;
  readonly cassette?: CassetteChoice;
}

const EXIT_INTERRUPTED = 130;

const NOTHING_SEEN = 2;

/** Runs a program with capture, writes the recorded calls and returns the exit code. */
export async function captureProgram(
  args: readonly string[],
  options: CaptureFlags,
  io: Io,
): Promise<number> {
  const isServing = options.envOnly === true;
  refuseUseless(args, isServing);
  const id = captureId(io);
  // Opened first, so that a refused cassette leaves no folder.
  const cassette = openCassette(options, io);
  const folder = new CaptureFolder(
    resolve(io.cwd, options.out ?? join('.agentci', 'captures', id)),
  );
  const capture = openCapture(args, options, { folder, cassette, io });
  const slot =
    cassette === undefined ? await capture.open() : await cassette.cassettes.openSlot(capture);
  if (cassette !== undefined) slot.begin(cassette.about);
  const started = io.now();
  let end: ChildEnd | undefined;
  try {
    if (isServing) await serve(slot, io);
    else end = await runIn(slot, args, io);
    const seen = await slot.end(endingOf(end));
    const result = { ...seen, trace: asked(seen.trace, options.query) };
    const summary = summarizeCapture(result, await pricesFor(result.trace));
    const played = cassette?.finish(end);
    const notes = [...capture.notes, ...slot.notes];
    const about = {
      id,
      run: result.id,
      command: maskArguments(args),
      started_at: new Date(started).toISOString(),
      duration_ms: Math.round(io.now() - started),
      exit: end === undefined ? null : { code: end.code ?? null, signal: end.signal ?? null },
      planes: slot.report(),
      upstreams: capture.upstreams,
      set: Object.keys(slot.set).sort(),
      overridden: overriddenBy(slot.set, io.env),
      notes,
      cassette: played?.use,
      ...summary,
    };
    folder.finish(result, about);
    const lines =
      options.json === true
        ? [JSON.stringify({ folder: folder.path, ...about })]
        : linesOf({ result, notes, summary, played, capture, folder });
    for (const line of lines) io.stderr.write(`${line}\n`);
    return exitOf({
      end,
      isMissed: played?.error !== undefined,
      hasSeen: summary.llm_calls > 0 || hasWork(result.trace),
      isServing,
      io,
    });
  } finally {
    await slot.close();
    await capture.close();
  }
}

function linesOf({
  result,
  notes,
  summary,
  played,
  capture,
  folder,
}: {
  readonly result: { readonly trace?: Trace | undefined };
  readonly notes: ReturnType<typeof createCapture>['notes'];
  readonly summary: ReturnType<typeof summarizeCapture>;
  readonly played: Parameters<typeof cassetteLines>[0] | undefined;
  readonly capture: ReturnType<typeof createCapture>;
  readonly folder: CaptureFolder;
}): readonly string[] {
  return present([
    ...notes.map(({ code, message }) => `${message} (${code})`),
    ...summaryLines(summary),
    result.trace === undefined && Object.keys(capture.upstreams).length === 0
      ? NO_PROVIDER
      : undefined,
    result.trace === undefined ? undefined : `written to ${folder.path}`,
    ...(played === undefined ? [] : cassetteLines(played)),
  ]).map((line) => `agentci: ${escapeTerminalLine(line)}`);
}

function refuseUseless(args: readonly string[], isServing: boolean): void {
  if (isServing !== args.length > 0) return;
  throw new UserError(
    'OPTION_INVALID',
    isServing ? '--env-only starts no program' : 'no program to run was given',
    {
      hint: isServing
        ? 'Leave the program out and start it yourself with the printed variables, or leave --env-only out.'
        : 'Put the program after two dashes: agentci capture -- python agent.py',
    },
  );
}

function openCapture(
  args: readonly string[],
  options: CaptureFlags,
  {
    folder,
    cassette,
    io,
  }: { folder: CaptureFolder; cassette: ReturnType<typeof openCassette>; io: Io },
): ReturnType<typeof createCapture> {
  return createCapture({
    planes: planesOf(options.planes),
    env: io.env,
    cwd: io.cwd,
    providers: options.provider ?? [],
    ...cassette?.options,
    upstreams: upstreamsOf(options.upstream ?? []),
    command: args,
    mcpConfig: options.mcpConfig,
    onExchange: (exchange, run) => folder.add(exchange, run),
    onTelemetry: (request) => folder.addTelemetry(request),
    now: io.now,
  });
}

const runIn = (
  slot: Pick<CaptureSlot, 'args' | 'rewrite' | 'env'>,
  [program = '', ...rest]: readonly string[],
  io: Io,
): Promise<ChildEnd> =>
  runChild({
    command: [program, ...slot.args, ...rest.map(slot.rewrite)],
    env: slot.env,
    cwd: io.cwd,
    signal: io.signal,
  });

function endingOf(end: ChildEnd | undefined): AgentEnd {
  if (end?.signal !== undefined) return 'stopped';
  return end?.hasLeftovers === true ? 'left' : 'itself';
}

/**
 * Variables that were set before. Variables that capture only extends, such as PATH, keep the
 * user's value.
 */
const overriddenBy = (set: CaptureSlot['set'], env: Io['env']): string[] =>
  Object.entries(set)
    .filter(([name, value]) => env[name] !== undefined && !value.includes(env[name]))
    .map(([name]) => name)
    .sort();

function exitOf({
  end,
  isMissed,
  hasSeen,
  isServing,
  io,
}: {
  readonly end: ChildEnd | undefined;
  /** The cassette lacked a requested call. */
  readonly isMissed: boolean;
  readonly hasSeen: boolean;
  readonly isServing: boolean;
  readonly io: Io;
}): number {
  const code = end === undefined ? 0 : exitCodeOf(end);
  // A program that handles the signal exits with its own code.
  if (io.signal.aborted && !isServing && (code === 0 || end?.signal !== undefined))
    return EXIT_INTERRUPTED;
  return code === 0 && (isMissed || !hasSeen) ? NOTHING_SEEN : code;
}

const NO_PROVIDER =
  'neither a key nor an address of a provider is in the environment or in .env: name one with --provider';

function planesOf(names: readonly string[] | undefined): readonly CapturePlane[] {
  const given = names ?? CAPTURE_PLANES;
  for (const name of given)
    if (!(CAPTURE_PLANES as readonly string[]).includes(name))
      throw new UserError('OPTION_INVALID', `--planes: unknown plane "${name}"`, {
        hint: `planes: ${CAPTURE_PLANES.join(', ')}`,
      });
  return given as readonly CapturePlane[];
}

function upstreamsOf(list: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    list.map((text) => {
      const at = text.indexOf('=');
      if (at < 1)
        throw new UserError('OPTION_INVALID', `--upstream: "${text}" does not name a provider`, {
          hint: 'Write it as openai=https://gateway.example.com/v1.',
        });
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

/** A unique id that sorts by time. */
const captureId = (io: Io): string =>
  `${new Date(io.now()).toISOString().replace(/[-:]|\.\d+Z$/g, '')}-${randomBytes(3).toString('hex')}`;

async function serve(slot: Pick<CaptureSlot, 'set'>, io: Io): Promise<void> {
  // PATH differs on the remote machine.
  const { PATH: _, ...set } = slot.set;
  for (const [name, value] of Object.entries(set))
    io.stdout.write(`export ${name}='${value.replaceAll("'", "'\\''")}'\n`);
  io.stderr.write('agentci: capturing calls to these addresses, Ctrl-C stops it\n');
  await new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Only a trace has costs to compute. */
const pricesFor = async (trace: Trace | undefined) =>
  trace === undefined
    ? undefined
    : (await (await import('@agentci/lib/prices')).loadPrices()).lookup;

/** Failed calls alone do not show what the program does. */
const hasWork = (trace: Trace | undefined): boolean =>
  trace?.steps.some(({ kind }) => kind !== 'event') ?? false;

/** Stores the query text, so that a query with the same text finds its recording. */
const asked = (trace: Trace | undefined, query: string | undefined): Trace | undefined =>
  trace === undefined || query === undefined
    ? trace
    : {
        ...trace,
        task: { ...trace.task, input: [{ role: 'user', parts: [{ type: 'text', text: query }] }] },
      };
