/**
 * A text as a reader sees it: compatibility forms as plain letters (NFKC), no invisible characters
 * or direction marks, and any white space as one space. Texts that look alike become equal, so an
 * invisible character cannot hide a forbidden word.
 */
export function visibleText(given: string): string {
  const text = withoutAnsi(given);
  if (PRINTABLE_ASCII.test(text)) return text.includes('  ') ? text.replace(SPACES, ' ') : text;
  if (ASCII.test(text)) return text.replace(ASCII_CONTROLS, '').replace(WHITE_SPACE, ' ');
  // Before composing, because an invisible character separates a letter from its accent; and again
  // after it.
  return text
    .replace(INVISIBLE, '')
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .replace(WHITE_SPACE, ' ');
}

/** Removes terminal sequences, which show nothing. */
export const withoutAnsi = (text: string): string =>
  text.includes('\u001b') || text.includes('\u009b') ? text.replace(ANSI, '') : text;

/** The visible name of a tool, without surrounding space. Case-sensitive. */
export const visibleName = (name: string): string =>
  NAME.test(name) ? name : visibleText(name).trim();

/** Visible names. Returns the same list if nothing changes. */
export const visibleNames = (names: readonly string[]): readonly string[] =>
  names.every((name) => NAME.test(name)) ? names : names.map(visibleName);

/** CSI sequences; strings such as titles and links; other two-character escapes. */
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
/**
 * Includes the next-line character and the blank Braille pattern, which look like space but which
 * JavaScript does not count.
 */
const WHITE_SPACE = /[\s\u0085\u2800]+/gu;
/** Excludes the byte-order mark, which JavaScript counts as white space. */
const INVISIBLE =
  /\ufeff|(?![\s\u0085])[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}\ufff9-\ufffb]/gu;

/** Whether a text has any visible character. */
export const isVisible = (text: string): boolean => VISIBLE.test(withoutAnsi(text));
const VISIBLE = /[^\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]|[\p{Co}]/u;
