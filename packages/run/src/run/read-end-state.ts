import { findDuplicateKey } from '@agentci/lib/json';
import { withDeadline } from '@agentci/lib/net';
import type { Query, StatePlan } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { MAX_OUTPUT_BYTES } from '../runners/command.ts';
import { variableEnvironment } from '../runners/fill-texts.ts';
import { runProcess } from '../runners/process.ts';
import { reasonIn } from '../runners/stderr-reason.ts';

interface Around {
  readonly dir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly run: number;
  readonly interrupt: AbortSignal;
}

/**
 * Runs the program of `state` to read the current state. It gets the input of the agent and the
 * conversation id.
 */
export async function readEndState(
  query: Query,
  plan: StatePlan,
  trace: Trace,
  around: Around,
): Promise<Trace> {
  return { ...trace, endState: await askState(query, plan, trace, around) };
}

async function askState(
  query: Query,
  { command, timeoutMs }: StatePlan,
  trace: Trace,
  { dir, env, run, interrupt }: Around,
): Promise<NonNullable<Trace['endState']>> {
  const [program = '', ...args] = command;
  const stdin = JSON.stringify({
    id: query.id,
    run,
    query: query.query,
    metadata: query.metadata ?? {},
    vars: query.vars ?? {},
    conversation: trace.conversation?.id === undefined ? undefined : trace.conversation.id,
  });
  const { outcome, isLate } = await withDeadline(
    { ms: timeoutMs, signal: interrupt },
    async ({ signal, isOver }) => ({
      outcome: await runProcess({
        command: program,
        args,
        cwd: dir,
        env: { ...env, ...variableEnvironment(query.vars) },
        stdin,
        signal,
        maxStdoutBytes: MAX_OUTPUT_BYTES,
      }),
      isLate: isOver(),
    }),
  );
  switch (outcome.ended) {
    case 'exited':
      if (outcome.code !== 0)
        return {
          error: `"${program}" exited with code ${outcome.code}${reasonIn(outcome.stderr)}`,
        };
      return stateIn(outcome.stdout.toString('utf8'), program, outcome.stderr);
    case 'signal':
      return { error: `"${program}" was ended by ${outcome.signal}` };
    case 'aborted':
      return { error: isLate ? `"${program}" gave no state within ${timeoutMs} ms` : 'stopped' };
    case 'flooded':
      return { error: `"${program}" printed more than ${MAX_OUTPUT_BYTES / 1024 / 1024} MB` };
    case 'not_started':
      return { error: `"${program}" could not be started: ${outcome.message}` };
    default:
      throw new Error(`unhandled outcome: ${JSON.stringify(outcome satisfies never)}`);
  }
}

function stateIn(
  text: string,
  program: string,
  stderr: Parameters<typeof reasonIn>[0],
): NonNullable<Trace['endState']> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { error: `"${program}" did not print JSON${reasonIn(stderr)}` };
  }
  const twice = findDuplicateKey(text);
  return twice === undefined
    ? { value }
    : {
        error: `"${program}" printed the key ${JSON.stringify(twice.key)} twice in one object, so the state says two things`,
      };
}
