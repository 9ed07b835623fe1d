import { didYouMean } from '@agentci/lib/text';

/** A hint for an unknown word. */
export function unknownHint(word: string, known: readonly string[], what: string): string {
  const near = didYouMean(word, known);
  return near === undefined
    ? `${what}: ${[...known].sort().join(', ')}`
    : `did you mean "${near}"?`;
}

/** A value in a message, short and on one line. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    return 'a value that is not JSON';
  }
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** `rules[0].then[1]`. */
export const pathText = (root: string, path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${step}`),
    root,
  );
