import { foldText } from '../kit/text-fold.ts';
import type { Trace } from '../trace/model.ts';
import { finalText } from '../trace/selectors.ts';

/** Why there is no answer to look at. */
export const noAnswer = (trace: Trace): string =>
  trace.masked === undefined
    ? 'no final answer was captured'
    : `the answer was stored without its secrets (${trace.masked.join(', ')})`;

/** Of the trace that was asked about last: its checks come one after the other. */
let last: { readonly trace: Trace; readonly folded: string } | undefined;

/** The answer prepared for searching without case, once a trace. Undefined when no answer was captured. */
export function foldedAnswer(trace: Trace): string | undefined {
  if (last?.trace === trace) return last.folded;
  const answer = finalText(trace);
  if (answer === undefined) return undefined;
  last = { trace, folded: foldText(answer) };
  return last.folded;
}

const AROUND = 40;

/** The part of a text around a place, to show as evidence. */
export function excerpt(text: string, at: number, length: number): string {
  const start = Math.max(0, at - AROUND);
  const end = Math.min(text.length, at + length + AROUND);
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}
