/**
 * Makes two spellings of one text equal when they differ only in case or in how accents are encoded.
 *
 * Upper then lower case reaches Unicode full case folding without tables: `ß` and `SS`, `ﬁ` and `FI` meet, and a final
 * sigma loses its position. The dot that `İ` leaves over `i` is dropped, so that `İstanbul` is found by `istanbul` and not
 * only by itself. Accents stay: `cafe` does not find `café` (NFC before and after, never NFKD).
 */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i')
    .normalize('NFC');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is "all of ASCII".
const ASCII = /^[\x00-\x7f]*$/;
