import type { Edit } from '@agentci/results';
import { align } from './align.ts';

/** Compares only the beginnings of longer answers. Equality is still decided by the whole texts. */
const MAX_CHARACTERS = 20_000;
const MAX_WORDS = 1500;

/** Diff of two texts by words, or by lines if they are long. */
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

/** Merges adjacent edits of one kind. */
function joined(edits: readonly Edit[]): Edit[] {
  const pieces: Edit[] = [];
  for (const { op, text } of edits) {
    const last = pieces.at(-1);
    if (last?.op === op) last.text += text;
    else pieces.push({ op, text });
  }
  return pieces;
}
