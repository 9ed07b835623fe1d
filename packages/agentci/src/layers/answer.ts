import { foldText } from '../kit/text-fold.ts';
import type { Trace } from '../trace/model.ts';
import { finalText } from '../trace/selectors.ts';

export const NO_ANSWER = 'no final answer was captured';

const folded = new WeakMap<Trace, string>();

/** The answer prepared for searching without case, once a trace. Undefined when no answer was captured. */
export function foldedAnswer(trace: Trace): string | undefined {
  const known = folded.get(trace);
  if (known !== undefined) return known;
  const answer = finalText(trace);
  if (answer === undefined) return undefined;
  const text = foldText(answer);
  folded.set(trace, text);
  return text;
}

const AROUND = 40;

/** The part of a text around a place, to show as evidence. */
export function excerpt(text: string, at: number, length: number): string {
  const start = Math.max(0, at - AROUND);
  const end = Math.min(text.length, at + length + AROUND);
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}
