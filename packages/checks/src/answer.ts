import { foldText, visibleText } from '@agentci/lib/text';
import type { Trace } from '@agentci/trace';
import { finalText } from '@agentci/trace';
import type { CheckContext } from './check.ts';

/** The reason that a trace has no answer to check. */
export const noAnswer = (trace: Trace): string =>
  trace.masked === undefined
    ? 'no final answer was captured'
    : `the answer was stored without its secrets (${trace.masked.join(', ')})`;

/** Cache for the last trace, whose checks run one after the other. */
let last: { readonly trace: Trace; readonly folded: string } | undefined;

/** The answer folded for case-insensitive search. Undefined if no answer was captured. */
export function foldedAnswer(trace: Trace): string | undefined {
  if (last?.trace === trace) return last.folded;
  const answer = finalText(trace);
  if (answer === undefined) return undefined;
  last = { trace, folded: foldText(answer) };
  return last.folded;
}

/** Search settings: visible text, ignoring case unless `case_sensitive: true` is set. */
export interface Searching {
  /** Undefined if no answer was captured. */
  readonly answer: string | undefined;
  readonly prepare: (term: string) => string;
}

export function searching({
  trace,
  siblings,
}: Pick<CheckContext, 'trace' | 'siblings'>): Searching {
  if (siblings.case_sensitive !== true) return { answer: foldedAnswer(trace), prepare: foldText };
  const answer = finalText(trace);
  return { answer: answer === undefined ? undefined : visibleText(answer), prepare: visibleText };
}

const AROUND = 40;

/** The text around an offset, as evidence. */
export function excerpt(text: string, at: number, length: number): string {
  const start = Math.max(0, at - AROUND);
  const end = Math.min(text.length, at + length + AROUND);
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}
