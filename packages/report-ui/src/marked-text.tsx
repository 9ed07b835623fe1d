import type { AnswerMark } from '@agentci/reporters/shared';
import { visible } from './visible-text.ts';

const TITLES: Record<AnswerMark['kind'], string> = {
  expected: 'a check looked for this and found it',
  forbidden: 'a check objects to this',
};

/** Marks the decisive words of a text by color and underline. */
export function MarkedText({ text, marks }: { text: string; marks: readonly AnswerMark[] }) {
  const pieces = [];
  let at = 0;
  for (const { start, end, kind } of marks) {
    if (start < at) continue;
    pieces.push(visible(text.slice(at, start)));
    pieces.push(
      <mark key={start} class={kind} title={TITLES[kind]}>
        {visible(text.slice(start, end))}
      </mark>,
    );
    at = end;
  }
  pieces.push(visible(text.slice(at)));
  return <>{pieces}</>;
}
