import { clip } from '@agentci/checks';
import { compileGlob } from '@agentci/lib/regex';
import { isVisible } from '@agentci/lib/text';
import type { CheckResult, QueryError } from '@agentci/results';
import type { ConversationPlan, Query } from '@agentci/spec';
import {
  answerOfTurn,
  type Trace,
  toolCalls,
  traceOfTurn,
  turnsOf,
  UNFINISHED,
} from '@agentci/trace';

const FAILED: ReadonlySet<string> = new Set(['error', 'denied', 'cancelled']);

/** Whether a tool with one of these names or patterns was called. A failed call does not count. */
export function hasRun(trace: Trace, names: readonly string[]): boolean {
  const globs = names.map(compileGlob);
  return toolCalls(trace).some(
    ({ name, rawName, status }) =>
      !FAILED.has(status) && globs.some((is) => is(name) || (rawName !== undefined && is(rawName))),
  );
}

/** The reason why the agent cannot be judged, from the end of the conversation. */
export function unfinishedReason({ conversation }: Trace): string | undefined {
  const { ending, fault } = conversation ?? {};
  if (ending === undefined || fault !== undefined || !UNFINISHED.has(ending)) return undefined;
  return `the conversation was not finished: its ending is "${ending}" (${MEANING[ending as keyof typeof MEANING]})`;
}

const MEANING = {
  error: 'the agent or the user failed',
  timeout: 'the time was up',
  budget: 'the budget was used up',
  out_of_scope: 'the user lacked a fact that the agent needed',
} as const;

/** The error of a conversation in which the agent left a message unanswered, as in a live one. */
export function unansweredTurn(
  { endTools }: ConversationPlan,
  trace: Trace,
): QueryError | undefined {
  const turns = turnsOf(trace);
  const open = turns.find((turn) => !isVisible(answerOfTurn(turn) ?? ''));
  if (open === undefined) return undefined;
  // The call that ends the conversation may be the agent's last step.
  const isLast = open.turn === turns.at(-1)?.turn;
  const hasEnded = (): boolean =>
    endTools.length > 0 && hasRun(traceOfTurn(trace, open.turn) ?? trace, endTools);
  if (isLast && (trace.conversation?.ending === 'agent_done' || hasEnded())) return undefined;
  const said = JSON.stringify(clip(open.message, MAX_SHOWN));
  return { kind: 'trace', message: `turn ${open.turn}: the recording has no answer to ${said}` };
}

/**
 * The error of a recording that exceeds the spec's limits of a conversation. A live one would have
 * ended earlier.
 */
export function overlongReason(
  { maxTurns }: ConversationPlan,
  trace: Trace,
): QueryError | undefined {
  const turns = turnsOf(trace).length;
  if (turns <= maxTurns) return undefined;
  return {
    kind: 'trace',
    message: `the recording has ${turns} turns and max_turns is ${maxTurns}: a live conversation would have ended after turn ${maxTurns}; set max_turns to ${turns} or more to judge it`,
  };
}

const MAX_SHOWN = 80;

/**
 * Checks whether the agent ended the conversation, if the spec requires it (`user_done: false`).
 */
export function endCheck(
  query: Query,
  plan: ConversationPlan,
  trace: Trace,
): CheckResult | undefined {
  if (!plan.mustAgentEnd || trace.conversation?.fault !== undefined) return undefined;
  const location = query.locations?.['correctness.end'];
  const tools = plan.endTools.join(', ');
  const check = (status: CheckResult['status'], message: string): CheckResult => ({
    id: 'correctness.end',
    status,
    message,
    evidence: [],
    location,
  });
  if (hasRun(trace, plan.endTools))
    return check('pass', `the agent ended the conversation with ${tools}`);
  // The ending call may be one that was not recorded.
  if (trace.captured.toolCalls !== 'full' || trace.status === 'incomplete')
    return check(
      'error',
      `whether the agent ended the conversation with ${tools} is not known: not all tool calls were captured`,
    );
  const turns = turnsOf(trace).length;
  const ending = trace.conversation?.ending;
  return ending === 'max_turns'
    ? check(
        'fail',
        `the agent did not end the conversation: ${tools} was not called in ${turns} turns (max_turns)`,
      )
    : check(
        'error',
        `the conversation ended after turn ${turns}${ending === undefined ? '' : ` (${ending})`}, before the agent called ${tools}`,
      );
}
