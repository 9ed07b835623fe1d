/**
 * A text as a reader sees it: compatibility forms as plain letters (NFKC), nothing invisible, no marks that only turn the
 * direction of writing, white space of any kind and length as one space. Two texts that look alike are then equal, so a
 * character that does not show cannot hide a forbidden word.
 */
export function visibleText(given: string): string {
  const text = withoutAnsi(given);
  if (PRINTABLE_ASCII.test(text)) return text.includes('  ') ? text.replace(SPACES, ' ') : text;
  if (ASCII.test(text)) return text.replace(ASCII_CONTROLS, '').replace(WHITE_SPACE, ' ');
  // Before composing, since an invisible character keeps a letter and its accent apart; and after, to be sure.
  return text
    .replace(INVISIBLE, '')
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(WHITE_SPACE, ' ');
}

/** A text without the sequences that colour a terminal or move in it: they show nothing. */
export const withoutAnsi = (text: string): string =>
  text.includes('\u001b') || text.includes('\u009b') ? text.replace(ANSI, '') : text;

/** The name of a tool as a reader sees it; space around it does not show either. Case counts. */
export const visibleName = (name: string): string =>
  NAME.test(name) ? name : visibleText(name).trim();

/** Names as a reader sees them; the same list when nothing about them changes. */
export const visibleNames = (names: readonly string[]): readonly string[] =>
  names.every((name) => NAME.test(name)) ? names : names.map(visibleName);

/** CSI sequences; strings such as titles and links, up to their end; other escapes of two characters. */
const ANSI =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b[\]PX^_][^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|\u001b[ -/]*[0-Z\\^-~]/g;
const NAME = /^[!-~]*$/;
const PRINTABLE_ASCII = /^[ -~]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is "all of ASCII".
const ASCII = /^[\x00-\x7f]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that are not white space show nothing.
const ASCII_CONTROLS = /[\x00-\x08\x0e-\x1f\x7f]+/g;
const SPACES = / {2,}/g;
/** The next line and the blank Braille pattern look like space, though JavaScript does not count them. */
const WHITE_SPACE = /[\s\u0085\u2800]+/gu;
/** JavaScript counts the byte-order mark as white space. */
const INVISIBLE =
  /\ufeff|(?![\s\u0085])[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}\ufff9-\ufffb]/gu;

/** Whether a reader would see anything at all. */
export const isVisible = (text: string): boolean => VISIBLE.test(withoutAnsi(text));
const VISIBLE = /[^\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]|[\p{Co}]/u;
