import { foldText } from '@agentci/lib/text';

const MAX_LEAVES = 200;
const MAX_DEPTH = 6;

/**
 * The folded texts of a datum: the text or number itself, or the ones inside a list or map. Skips
 * blank texts.
 */
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
