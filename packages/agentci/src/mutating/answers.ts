import type { Trace } from '../trace/model.ts';
import { finalText } from '../trace/selectors.ts';
import { withAnswer } from './edit-trace.ts';
import type { Advice, Site } from './operator.ts';

/** An answer that is wrong, and how to notice. */
export interface OtherAnswer {
  readonly what: string;
  readonly text: string;
  readonly advice: readonly [Advice, ...Advice[]];
}

/** Places where the answer can be another; none where there is no answer. */
export function answerSites(trace: Trace, change: (text: string) => readonly OtherAnswer[]): Site[] {
  const answer = finalText(trace);
  if (answer === undefined || answer.trim() === '') return [];
  return change(answer).map(({ what, text, advice }) => ({
    what,
    make: () => withAnswer(trace, answer, text),
    advice,
  }));
}
