import { foldText } from '@agentci/lib/text';

const MAX_LEAVES = 200;
const MAX_DEPTH = 6;

/** The texts a datum of the case consists of, folded: a text or number itself, or those inside a list or map. Blank ones are not a datum. */
export function datumTexts(value: unknown): string[] {
  const texts: string[] = [];
  collect(value, 0, texts);
  return texts;
}

function collect(value: unknown, depth: number, texts: string[]): void {
  if (depth > MAX_DEPTH || texts.length >= MAX_LEAVES) return;
  if (typeof value === 'string' || typeof value === 'number') {
    const text = foldText(String(value).trim());
    if (text !== '') texts.push(text);
  } else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) collect(item, depth + 1, texts);
}
