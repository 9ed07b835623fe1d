import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import type { RunnerConfig } from '@agentci/spec';
import type { ResourceSample } from '@agentci/trace';
import { filledTexts, variableEnvironment } from './fill-texts.ts';
import { type ProcessOutcome, runProcess } from './process.ts';
import { watchResources } from './resource-watch.ts';
import type { AgentEnd } from './runner.ts';
import {
  AgentError,
  inputOf,
  type Runner,
  type RunnerEnvironment,
  refuseNoAnswer,
} from './runner.ts';
import { reasonIn } from './stderr-reason.ts';

/** 10 MB: the largest real trace is far smaller, a print loop is far larger. */
export const MAX_OUTPUT_BYTES = 10 * 1024 * 1024;

/**
 * Runs any program, one process per query or turn. Stdin gets `{query, id, run, metadata, vars}` as
 * JSON, and for a turn also its number and the messages so far. Stdout is an answer or a recording,
 * stderr is kept for the report.
 */
export function createCommandRunner(
  config: Extract<RunnerConfig, { kind: 'command' }>,
  around: RunnerEnvironment,
): Runner {
  const [program] = config.command;
  if (program === undefined) throw new UserError('SPEC_VALUE', 'runner.command is empty');
  const cwd = resolve(around.dir, config.cwd ?? '.');
  const env = { ...around.env, ...config.env };
  return {
    run: async (request) => {
      const { signal, vars } = request;
      const [command = program, ...args] = filledTexts(config.command, request);
      const agentWatch = await around.watch?.open();
      agentWatch?.begin(request);
      const started = performance.now();
      let resources: ResourceSample[] = [];
      const outcome = await runProcess({
        onStart: around.watchResources
          ? (pid) => {
              const watch = watchResources(pid);
              return () => {
                resources = watch.stop();
              };
            }
          : undefined,
        command,
        args:
          agentWatch === undefined
            ? args
            : [
                ...agentWatch.args,
                ...args.map((argument) => agentWatch.rewrite?.(argument) ?? argument),
              ],
        cwd,
        env: { ...(agentWatch?.env ?? env), ...variableEnvironment(vars) },
        stdin: JSON.stringify(inputOf(request)),
        signal,
        maxStdoutBytes: MAX_OUTPUT_BYTES,
        leftoverMs: agentWatch === undefined ? undefined : LEFTOVER_MS,
      });
      const wallMs = performance.now() - started;
      const seen = await agentWatch?.end(endingOf(outcome));
      await agentWatch?.close();
      if (outcome.ended !== 'exited' || outcome.code !== 0)
        throw endError(command, outcome, { cwd, config });
      const { stderr } = outcome;
      const { acceptsErrors } = config;
      const value = decode(outcome.stdout, stderr);
      refuseNoAnswer(value, { acceptsErrors, stderr });
      return {
        value,
        wallMs,
        acceptsErrors: acceptsErrors || undefined,
        stderr,
        resources: resources.length > 0 ? resources : undefined,
        seen,
      };
    },
    close: async () => {},
  };
}

function endingOf(outcome: ProcessOutcome): AgentEnd {
  if (outcome.ended !== 'exited') return 'stopped';
  return outcome.hasLeftovers === true ? 'left' : 'itself';
}

/** The reason why a process gave no answer. */
function endError(command: string, outcome: ProcessOutcome, place: CommandPlace): AgentError {
  switch (outcome.ended) {
    case 'exited':
      return new AgentError(
        'agent',
        `"${command}" exited with code ${outcome.code}${reasonIn(outcome.stderr)}`,
        outcome,
      );
    case 'signal':
      return new AgentError(
        'agent',
        `"${command}" was ended by ${outcome.signal}${reasonIn(outcome.stderr)}`,
        outcome,
      );
    case 'flooded':
      return new AgentError(
        'agent',
        `"${command}" printed more than ${MAX_OUTPUT_BYTES / 1024 / 1024} MB and was stopped`,
        outcome,
      );
    case 'aborted':
      return new AgentError('infra', 'stopped', outcome);
    case 'not_started':
      // A machine at its limits may recover in a moment.
      return new AgentError(
        outcome.code !== undefined && BUSY.has(outcome.code) ? 'infra' : 'agent',
        `"${command}" could not be started: ${whyNot(outcome, place)}`,
      );
    default:
      throw new Error(`unhandled outcome: ${JSON.stringify(outcome satisfies never)}`);
  }
}

interface CommandPlace {
  readonly cwd: string;
  readonly config: { readonly cwd?: string; readonly command: readonly string[] };
}

/** Servers started by an agent see its end and exit too. */
const LEFTOVER_MS = 300;
const BUSY: ReadonlySet<string> = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM']);

/** The system reports ENOENT for a missing program and a missing folder alike. */
function whyNot(
  { message, code }: { readonly message: string; readonly code?: string | undefined },
  { cwd, config }: CommandPlace,
): string {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
    return config.cwd === undefined
      ? `the folder of the spec is no longer there (${cwd})`
      : `there is no folder "${config.cwd}" to run it in (cwd is relative to the spec)`;
  const isPath = /[/\\]/.test(config.command[0]!);
  if (code === 'ENOENT')
    return isPath ? 'there is no such file' : 'no program of this name is on the PATH';
  if (code === 'EACCES') return 'the file may not be executed';
  return message;
}

function decode(stdout: Buffer, stderr: string): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(stdout);
  } catch {
    throw new AgentError('agent', 'printed bytes that are not UTF-8 text', { stderr });
  }
  if (text.includes('\0'))
    throw new AgentError('agent', 'printed binary data instead of text', { stderr });
  if (text.trim() === '')
    throw new AgentError('agent', `printed nothing on stdout${reasonIn(stderr)}`, { stderr });
  return text;
}
