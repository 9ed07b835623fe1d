import type { Edit } from '@agentci/results';
import { align } from './align.ts';

/** Longer answers are compared by their beginnings; whether they differ at all is still told from the whole. */
const MAX_CHARACTERS = 20_000;
const MAX_WORDS = 1500;

/** Two texts side by side, word by word; long ones line by line. */
export function textDiff(before: string, after: string): { edits: Edit[]; shortened: boolean } {
  const shortened = before.length > MAX_CHARACTERS || after.length > MAX_CHARACTERS;
  const a = clip(before);
  const b = clip(after);
  const words = [wordsOf(a), wordsOf(b)] as const;
  const [from, to] =
    Math.max(words[0].length, words[1].length) <= MAX_WORDS ? words : [linesOf(a), linesOf(b)];
  return { edits: joined(align(from, to)), shortened };
}

const clip = (text: string): string =>
  text.length > MAX_CHARACTERS ? text.slice(0, MAX_CHARACTERS) : text;
const wordsOf = (text: string): string[] => text.match(/\s+|\S+/g) ?? [];
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** Neighbours of one kind as one piece. */
function joined(edits: readonly Edit[]): Edit[] {
  const pieces: Edit[] = [];
  for (const { op, text } of edits) {
    const last = pieces.at(-1);
    if (last?.op === op) last.text += text;
    else pieces.push({ op, text });
  }
  return pieces;
}
