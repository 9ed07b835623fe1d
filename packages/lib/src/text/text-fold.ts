import { visibleText } from './visible-text.ts';

/**
 * Makes two spellings of one text equal when a reader sees no difference but case: as `visibleText`, and folded.
 *
 * Lower, upper, then lower case reaches Unicode full case folding without tables: `ß`, `ẞ` and `SS` meet, and a final sigma loses its
 * position. The dot that `İ` leaves over `i` is dropped, so that `İstanbul` is found by `istanbul` and not only by itself.
 * Accents stay: `cafe` does not find `café`.
 */
export function foldText(text: string): string {
  const visible = visibleText(text);
  if (ASCII.test(visible)) return visible.toLowerCase();
  // Lower case first: `ẞ` has no upper case of its own, and meets `ß` below.
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
