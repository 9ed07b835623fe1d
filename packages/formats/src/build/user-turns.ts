import type { ConversationEnding, LlmStep, Message, Step, Trace, Turn } from '@agentci/trace';
import { textOf } from './answer.ts';

/** Formats whose user messages are observations of the environment. */
const OBSERVING: ReadonlySet<string> = new Set(['swe-agent', 'browser-use', 'openhands', 'atif']);

type Said = Pick<Message, 'role' | 'parts'>;

/** Facts of a recording outside of its steps. */
interface Around {
  /** Messages after the last reply. */
  readonly left?: readonly Said[];
  readonly ending?: ConversationEnding | undefined;
}

/**
 * Finds the turns of a conversation in a trace: a user message after a reply starts a new one. A
 * message followed by another one, or by nothing, is a turn without an answer. Returns a run with
 * one user message unchanged.
 */
export function withUserTurns(trace: Trace, { left = [], ending }: Around = {}): Trace {
  if (OBSERVING.has(trace.source.format) || trace.conversation !== undefined) return trace;
  let replies = 0;
  const turns: { message: string; answer?: string }[] = [];
  let before: string[] = [];
  // Tools run by the provider are part of its reply.
  const served = new Set(
    trace.steps.flatMap((step) =>
      step.kind === 'tool' && step.by === 'provider' ? (step.callId ?? []) : [],
    ),
  );
  const isForAgent = ({ id }: { readonly id?: string }): boolean =>
    id === undefined || !served.has(id);
  const steps = trace.steps.map((step): Step => {
    if (isOuter(step, trace)) {
      if (replies === 0) {
        const said = firstOf(step);
        before = said.slice(0, -1);
        turns.push(...said.slice(-1).map((message) => ({ message })));
      } else if (turns.length > 0) turns.push(...laterOf(step).map((message) => ({ message })));
      replies++;
      const answer = step.output?.calls?.some(isForAgent) ? undefined : textOf(step.output);
      const current = turns.at(-1);
      if (current !== undefined && answer !== undefined) current.answer = answer;
    }
    return { ...step, userTurn: Math.max(1, turns.length) };
  });
  const unanswered = turns.length === 0 ? [] : textsOfUser(left).filter((text) => !NOTE.test(text));
  if (turns.length + unanswered.length < 2) return trace;
  const { final: last, ...rest } = trace;
  const list: Turn[] = [
    ...before.map((message) => ({ message })),
    ...turns.map(({ message, answer }, i) => {
      if (i === turns.length - 1) return { message, final: last };
      return { message, final: answer === undefined ? undefined : { text: answer } };
    }),
    ...unanswered.map((message) => ({ message })),
  ].map((turn, i) => ({ turn: i + 1, ...turn }));
  const conversation = { ending, turns: list };
  const own =
    before.length === 0
      ? steps
      : steps.map((step) => ({ ...step, userTurn: step.userTurn! + before.length }));
  if (unanswered.length === 0) return { ...trace, steps: own, conversation };
  return {
    ...rest,
    // The recording lacks the agent's answer to the last message.
    status: trace.status === 'ok' ? 'incomplete' : trace.status,
    captured: { ...trace.captured, final: 'none' },
    steps: own,
    conversation,
  };
}

/** Whether a call is of the agent that the user talks to, not of a sub-agent. */
function isOuter(step: Step, { agents }: Trace): step is LlmStep {
  if (step.kind !== 'llm') return false;
  return agents.find(({ id }) => id === step.agent)?.parent === undefined;
}

/**
 * The user's messages since anyone else spoke, in the first input. The last one is the question.
 */
function firstOf({ input = [] }: LlmStep): string[] {
  const since = input.slice(
    input.findLastIndex(({ role }) => role === 'assistant' || role === 'tool') + 1,
  );
  return saidBetween(since.some(isOfUser) ? since : input.filter(isOfUser).slice(-1));
}

/** Only messages beyond the earlier calls are new. */
const laterOf = ({ input, inputIsDelta }: LlmStep): string[] =>
  inputIsDelta === true ? saidBetween(input ?? []) : [];

/**
 * The user's messages between two replies. A program's note counts only if there is nothing else.
 */
function saidBetween(messages: readonly Said[]): string[] {
  const said = textsOfUser(messages);
  const own = said.filter((text) => !NOTE.test(text));
  if (own.length > 0) return own;
  if (said.length > 0) return [said.join('\n')];
  return [];
}

/**
 * Texts that terminals record as the user's: commands and their output, interruptions, environment.
 */
const NOTE =
  /^\s*(?:<(?:command-\w+|local-command-\w+|bash-\w+|system-reminder|task-notification|environment_context|user_instructions|turn_aborted)>|\[Request interrupted by user)/;

const textsOfUser = (messages: readonly Said[]): string[] =>
  messages.filter(isOfUser).flatMap((message) => {
    const said = textOf(message);
    return said === undefined || said.trim() === '' ? [] : [said];
  });

const isOfUser = ({ role }: Said): boolean => role === 'user';
