import { compileGlob } from '@agentci/lib/regex';
import type { Query } from '@agentci/spec';
import type { Conversation, Trace } from '@agentci/trace';
import { answerOfTurn, toolCalls, turnsOf } from '@agentci/trace';
import { simulatorFault } from '../simulator/simulator-faults.ts';
import { secretsOfBrief, withSecrets } from './brief-secrets.ts';
import { hasRun } from './conversation-end.ts';

type Fault = NonNullable<Conversation['fault']> & { readonly turn: number };

/** A user fault, as shown in messages. */
export const userFaultText = (turn: number, what: string): string =>
  `the user in turn ${turn}: ${what}`;

/**
 * The mistakes of the model that simulates the user, for a recording that does not list them.
 * Recordings are checked like live conversations. Empty without a simulated user.
 */
export function userFaults(
  { query: start, conversation: plan }: Query,
  trace: Trace,
): readonly Fault[] {
  const user = plan?.user;
  if (
    user === undefined ||
    trace.conversation === undefined ||
    trace.conversation.fault !== undefined
  )
    return [];
  const secrets = secretsOfBrief(user);
  const turns = turnsOf(trace);
  const messages = turns.map(({ message }) => withSecrets(message, secrets));
  const answers = turns.map((turn) => answerOfTurn(turn) ?? '');
  const faults: Fault[] = [];
  // The first message comes from the spec, not from the model.
  for (let i = 1; i < turns.length; i++) {
    const before = messages.slice(0, i);
    const message = messages[i]!;
    const what = simulatorFault({
      plan: user,
      start,
      message,
      before,
      answers: answers.slice(0, i),
      uses: [],
    });
    const { turn } = turns[i]!;
    if (what !== undefined)
      faults.push({ kind: 'simulator', turn, message: userFaultText(turn, what) });
  }
  const early =
    trace.conversation.ending === 'user_done' ? earlyDone(user.goalTool, [trace]) : undefined;
  if (early !== undefined && turns.length > 1)
    faults.push({ kind: 'simulator', turn: turns.at(-1)!.turn, message: early });
  return faults;
}

/** A user that is satisfied before the tool of its goal ran did not wait for the agent. */
export function earlyDone(
  goalTool: string | undefined,
  traces: readonly Trace[],
): string | undefined {
  if (goalTool === undefined || traces.some((trace) => hasRun(trace, [goalTool]))) return undefined;
  const isSeen = traces.every(({ captured }) => captured.toolCalls === 'full');
  const hasTried = traces.some((trace) =>
    toolCalls(trace).some(({ name }) => compileGlob(goalTool)(name)),
  );
  return isSeen
    ? `the user ended the conversation before ${goalTool} had run${hasTried ? ': every call of it failed' : ''}`
    : `whether ${goalTool} had run when the user ended the conversation is not known: not all tool calls were captured`;
}
