import { escapeTerminalLine } from '@agentci/lib/text';
import type { QueryResult } from '@agentci/results';
import { answerMarks } from './answer-marks.ts';
import type { Colors } from './verdict-line.ts';

/** Enough to see the topic. Reports in files have the whole answer. */
const MAX_ANSWER = 400;
/** Characters to keep before the first relevant word. */
const LEAD = 60;

/**
 * The shortened answer of a query that did not pass, with the checked terms marked: in color, or as
 * in a word diff, `{+expected+}` and `[-forbidden-]`.
 */
export function answerLines(
  { answer, correctness }: QueryResult,
  c: Colors,
  hasColor: boolean,
): string[] {
  if (answer === null) return [];
  if (answer.trim() === '') return [`        answer: ${c.dim('(empty)')}`];
  const marks = answerMarks(answer, correctness);
  const important = marks.find(({ kind }) => kind === 'forbidden') ?? marks[0];
  const from =
    important !== undefined && important.end > MAX_ANSWER ? Math.max(0, important.start - LEAD) : 0;
  const to = Math.min(answer.length, from + MAX_ANSWER);
  const pieces: string[] = [];
  let at = from;
  for (const { start, end, kind } of marks) {
    if (start < at || end > to) continue;
    pieces.push(escapeTerminalLine(answer.slice(at, start)));
    const word = escapeTerminalLine(answer.slice(start, end));
    if (hasColor) pieces.push((kind === 'forbidden' ? c.red : c.green)(c.underline(word)));
    else pieces.push(kind === 'forbidden' ? `[-${word}-]` : `{+${word}+}`);
    at = end;
  }
  pieces.push(escapeTerminalLine(answer.slice(at, to)));
  const text = pieces.join('').trim();
  return [`        answer: ${from > 0 ? '…' : ''}${text}${to < answer.length ? '…' : ''}`];
}
