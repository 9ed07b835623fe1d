import type { LlmStep, Message, Step, Trace, Turn } from '../../trace/model.ts';
import { textOf } from './answer.ts';

/** Formats whose messages of the user are what the environment shows the agent. */
const OBSERVING: ReadonlySet<string> = new Set(['swe-agent', 'browser-use', 'openhands', 'atif']);

/**
 * Finds the turns of a conversation in a trace: a message of the user that came after a reply begins a new one. A run in
 * which the user spoke once is given back as it is.
 */
export function withUserTurns(trace: Trace): Trace {
  if (OBSERVING.has(trace.source.format) || trace.conversation !== undefined) return trace;
  let replies = 0;
  const turns: { message: string; answer?: string }[] = [];
  const steps = trace.steps.map((step): Step => {
    if (isOuter(step, trace)) {
      const said = replies === 0 ? firstOf(step) : laterOf(step);
      if (said !== undefined && (replies === 0 || turns.length > 0)) turns.push({ message: said });
      replies++;
      const answer = step.output?.calls?.length ? undefined : textOf(step.output);
      const current = turns.at(-1);
      if (current !== undefined && answer !== undefined) current.answer = answer;
    }
    return { ...step, userTurn: Math.max(1, turns.length) };
  });
  if (turns.length < 2) return trace;
  const list = turns.map(({ message, answer }, i): Turn => {
    const final = i === turns.length - 1 ? trace.final : answer === undefined ? undefined : { text: answer };
    return { turn: i + 1, message, ...(final === undefined ? {} : { final }) };
  });
  return { ...trace, steps, conversation: { turns: list } };
}

/** A call of the agent the user talks to, not of one that works for it. */
function isOuter(step: Step, { agents }: Trace): step is LlmStep {
  if (step.kind !== 'llm') return false;
  return agents.find(({ id }) => id === step.agent)?.parent === undefined;
}

/** Of what the first call was sent, the last message of the user is the question. */
const firstOf = ({ input }: LlmStep): string | undefined => textOf(input?.findLast(isOfUser));

/** Only what was sent on top of the earlier calls is new. */
function laterOf({ input, inputIsDelta }: LlmStep): string | undefined {
  if (inputIsDelta !== true) return undefined;
  const texts = (input ?? [])
    .filter(isOfUser)
    .map(textOf)
    .filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : texts.join('\n');
}

const isOfUser = ({ role }: Message): boolean => role === 'user';
