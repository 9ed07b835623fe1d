import { resolve } from 'node:path';
import {
  type CheckContext,
  type CheckOutcome,
  type CodeItem,
  clip,
  codeName,
  held,
  knownCalls,
  outputOf,
  shortJson,
  unmeasured,
  violated,
} from '@agentci/checks';
import { withDeadline } from '@agentci/lib/net';
import { systemErrorText } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';
import { codePlace } from '@agentci/spec';
import { finalText, maskedReason } from '@agentci/trace';
import { createModuleCaller, type ModuleCaller } from '../runners/module.ts';
import { runProcess } from '../runners/process.ts';
import { reasonIn } from '../runners/stderr-reason.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_STDOUT_BYTES = 1024 * 1024;
const MAX_MESSAGE = 500;

/**
 * The variables that programs need to run at all. Keys and all others are passed on only by name.
 */
const USUAL_ENV =
  'PATH HOME LANG LC_ALL TZ TMPDIR TEMP TMP USER SHELL SYSTEMROOT ' +
  'PATHEXT COMSPEC APPDATA LOCALAPPDATA USERPROFILE NODE_PATH VIRTUAL_ENV PYTHONPATH';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Runs the user's own checks: functions in worker threads, programs as processes, each with a
 * timeout.
 */
export interface CodeRunner {
  readonly run: (item: CodeItem, context: CheckContext) => Promise<CheckOutcome>;
  /** Background failures of functions after they returned a verdict. The verdict may be wrong. */
  readonly lateErrors: () => readonly string[];
  readonly close: () => Promise<void>;
}

interface CodeOptions {
  readonly dir: string;
  readonly env: Env;
  readonly signal?: AbortSignal | undefined;
}

export const createCodeRunner = (options: CodeOptions): CodeRunner => new CodeChecks(options);

class CodeChecks implements CodeRunner {
  readonly #options: CodeOptions;
  readonly #idle = new Map<string, ModuleCaller[]>();
  readonly #all: { readonly module: string; readonly caller: ModuleCaller }[] = [];

  constructor(options: CodeOptions) {
    this.#options = options;
  }

  run = async (item: CodeItem, context: CheckContext): Promise<CheckOutcome> => {
    const name = `code ${clip(codeName(item))}`;
    const masked = maskedReason(context.trace);
    if (masked !== undefined) return failed(name, masked);
    const { timeout_ms: timeoutMs = DEFAULT_TIMEOUT_MS, env: passed = [] } =
      typeof item === 'string' ? {} : item;
    const env = this.#envOf(passed);
    const input = inputOf(context);
    const deadline = { ms: timeoutMs, signal: this.#options.signal };
    return withDeadline(deadline, async ({ signal, isOver }) => {
      try {
        const given =
          typeof item === 'string' || 'module' in item
            ? await this.#callModule(typeof item === 'string' ? item : item.module, {
                env,
                input,
                signal,
              })
            : await this.#runCommand(item.command, { env, input, signal });
        return verdictOf(name, given);
      } catch (error) {
        const why = isOver()
          ? `no verdict within ${timeoutMs} ms`
          : (systemErrorText(error as NodeJS.ErrnoException) ??
            (error instanceof Error ? error.message : String(error)));
        return failed(name, why);
      }
    });
  };

  lateErrors = (): readonly string[] =>
    this.#all.flatMap(({ module, caller }) =>
      caller.lateErrors().map((why) => `code ${clip(module)}: ${clip(why, MAX_MESSAGE)}`),
    );

  close = async (): Promise<void> => {
    await Promise.all(this.#all.map(({ caller }) => caller.close()));
  };

  /** The usual variables, plus those that the check lists. */
  #envOf(passed: readonly string[]): Env {
    const { env } = this.#options;
    const given = Object.fromEntries(
      [...USUAL_ENV.split(' '), ...passed].flatMap((key) =>
        env[key] === undefined ? [] : [[key, env[key]]],
      ),
    );
    // Variables passed to a check are treated like secrets of the spec: never shown.
    SECRETS.add(
      passed.flatMap((name) => (given[name] === undefined ? [] : [{ name, value: given[name] }])),
    );
    return given;
  }

  async #callModule(module: string, { env, input, signal }: CodeCall): Promise<unknown> {
    const { file, exportName } = codePlace(module);
    const key = JSON.stringify([module, env]);
    const free = this.#idle.get(key) ?? [];
    this.#idle.set(key, free);
    let caller = free.pop();
    if (caller === undefined) {
      caller = createModuleCaller({
        file: resolve(this.#options.dir, file),
        exportName,
        env,
        what: 'the check',
      });
      this.#all.push({ module, caller });
    }
    try {
      return await caller.call([input], signal);
    } finally {
      free.push(caller);
    }
  }

  async #runCommand(
    [program, ...args]: readonly string[],
    { env, input, signal }: CodeCall,
  ): Promise<unknown> {
    const outcome = await runProcess({
      command: program!,
      args,
      cwd: this.#options.dir,
      env,
      stdin: JSON.stringify(input),
      signal,
      maxStdoutBytes: MAX_STDOUT_BYTES,
    });
    switch (outcome.ended) {
      case 'exited':
        if (outcome.code !== 0)
          throw new Error(`it exited with code ${outcome.code}${reasonIn(outcome.stderr)}`);
        return parsed(outcome.stdout.toString('utf8'));
      case 'signal':
        throw new Error(`it was ended by ${outcome.signal}${reasonIn(outcome.stderr)}`);
      case 'flooded':
        throw new Error(`it printed more than ${MAX_STDOUT_BYTES} bytes`);
      case 'aborted':
        throw new Error('it was stopped');
      case 'not_started':
        throw new Error(`it could not be started: ${outcome.message}`);
    }
  }
}

interface CodeCall {
  readonly env: Env;
  readonly input: object;
  readonly signal: AbortSignal;
}

/** In every layer, a custom check without a verdict is an error. */
const failed = (name: string, why: string): CheckOutcome =>
  unmeasured(`${name}: ${clip(why, MAX_MESSAGE)}`, { severity: 'fail' });

/** The input of a function or program. Data that was not captured is null. */
function inputOf({ trace, query }: CheckContext): object {
  return {
    query: query?.query ?? null,
    answer: finalText(trace) ?? null,
    output: outputOf(trace) ?? null,
    calls: knownCalls(trace) ?? null,
    trace,
    vars: query?.vars ?? {},
    expected: query?.expectedOutput ?? null,
  };
}

function parsed(stdout: string): unknown {
  const text = stdout.trim();
  if (text === '')
    throw new Error('it printed nothing, but must print true, false, or {"status": "pass"}');
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(
      `it printed ${shortJson(text)}, which is not JSON; print true, false, or {"status": "pass"}`,
    );
  }
}

/** Validates the returned value. Any other shape is an error. */
function verdictOf(name: string, given: unknown): CheckOutcome {
  if (typeof given === 'boolean')
    return given
      ? held(`${name}: pass`, { value: true })
      : violated(`${name}: fail`, { value: false });
  const fields =
    typeof given === 'object' && given !== null ? (given as Readonly<Record<string, unknown>>) : {};
  const { status, message, value } = fields;
  if (status !== 'pass' && status !== 'fail')
    return failed(
      name,
      `it gave ${shortJson(given)}, not true, false or {status: "pass" | "fail"}`,
    );
  const told =
    typeof message === 'string' && message.trim() !== '' ? clip(message, MAX_MESSAGE) : status;
  const shown = isShort(value) ? value : undefined;
  return (status === 'pass' ? held : violated)(`${name}: ${told}`, { value: shown ?? status });
}

const isShort = (value: unknown): boolean =>
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (typeof value === 'string' && value.length <= MAX_MESSAGE);
