import { visibleText } from './visible-text.ts';

/**
 * Folds a text so that spellings that differ only in case are equal: `visibleText`, then case
 * folding.
 *
 * Lower, upper, then lower case reaches full Unicode case folding without tables: `ß`, `ẞ` and `SS`
 * become equal, and a final sigma loses its position. The combining dot of `İ` is dropped, so that
 * `istanbul` finds `İstanbul`. Accents stay: `cafe` does not find `café`.
 */
export function foldText(text: string): string {
  const visible = visibleText(text);
  if (ASCII.test(visible)) return visible.toLowerCase();
  // Lower case first, because `ẞ` has no upper case and must become `ß`.
  return visible
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i')
    .normalize('NFKC');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is "all of ASCII".
const ASCII = /^[\x00-\x7f]*$/;
