import { foldText, visibleText } from '@agentci/lib/text';
import type { Trace } from '@agentci/trace';
import { finalText } from '@agentci/trace';
import type { CheckContext } from './check.ts';

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

/** How terms are looked for: as a reader sees them, and without case unless `case_sensitive: true` is beside the check. */
export interface Searching {
  /** Undefined when no answer was captured. */
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

/** The part of a text around a place, to show as evidence. */
export function excerpt(text: string, at: number, length: number): string {
  const start = Math.max(0, at - AROUND);
  const end = Math.min(text.length, at + length + AROUND);
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}
