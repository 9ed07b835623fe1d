import type { CheckResult } from '@agentci/results';
import { TRUNCATED } from '@agentci/results';
import type { LlmStep, Trace } from '@agentci/trace';
import { finalText, finishOfAnswer, traceOfTurn } from '@agentci/trace';

/**
 * The finding that the model did not finish its answer. The answer is judged as delivered: its
 * words may be right, but the missing part could have changed the meaning.
 */
export function truncationOf(trace: Trace): CheckResult | undefined {
  const turns = trace.conversation?.turns ?? [];
  if (turns.length < 2) return cutOff(trace);
  const found = turns.flatMap(({ turn }, i) => {
    const slice = traceOfTurn(trace, turn)!;
    // The stop reason of the whole applies to its last answer.
    const cut = cutOff(i === turns.length - 1 ? slice : { ...slice, meta: {}, warnings: [] });
    return cut === undefined ? [] : [{ turn, cut }];
  });
  const [first, ...more] = found;
  if (first === undefined) return undefined;
  const also =
    more.length === 0
      ? ''
      : `; so ${more.length === 1 ? 'was' : 'were'} ${more.map(({ turn }) => `turn ${turn}`).join(', ')}`;
  return {
    ...first.cut,
    message: `turn ${first.turn}: ${first.cut.message}${also}`,
    evidence: found.flatMap(({ cut }) => cut.evidence),
  };
}

function cutOff(trace: Trace): CheckResult | undefined {
  if (finalText(trace) === undefined) return undefined;
  const { finish, step } = finishOfAnswer(trace);
  const isCut =
    trace.status === 'incomplete' && trace.warnings.some(({ code }) => code === 'REPLY_NOT_WHOLE');
  const why =
    REASONS.get(finish) ?? (isCut ? 'the recorded stream ends before the reply does' : undefined);
  if (why === undefined) return undefined;
  const evidence = step === undefined ? [] : [{ step: step.seq }];
  const value = finish ?? 'incomplete';
  return {
    id: TRUNCATED,
    status: 'warn',
    message: `the answer was cut off: ${why}`,
    value,
    evidence,
  };
}

const REASONS: ReadonlyMap<LlmStep['finish'], string> = new Map([
  ['length', 'the model reached its token limit (finish_reason: length)'],
  ['content_filter', 'a content filter stopped the model (finish_reason: content_filter)'],
]);

/** Whether the model's reply ended with an error. The text before it is not an answer. */
export const endedInError = (trace: Trace): boolean => finishOfAnswer(trace).finish === 'error';
