/**
 * A pattern for a literal text: escaped in a spec, or `^{{column}}$` if the text is in a row,
 * because variables are escaped when they are inserted into a pattern.
 */
export class Literal {
  readonly text: string;
  readonly before: string;
  readonly after: string;

  constructor(
    text: string,
    { before = '', after = '' }: { readonly before?: string; readonly after?: string } = {},
  ) {
    this.text = text;
    this.before = before;
    this.after = after;
  }

  get pattern(): string {
    return `${this.before}${escapePattern(this.text)}${this.after}`;
  }
}

const CONTROL: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A pattern that matches exactly this text. */
export const escapePattern = (text: string): string =>
  text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/[\n\r\t]/g, (char) => CONTROL[char]!);

/** The text anywhere in the answer. */
export const contains = (text: string): Literal => new Literal(text);
/** The text and nothing else. */
export const equals = (text: string): Literal => new Literal(text, { before: '^', after: '$' });
export const startsWith = (text: string): Literal => new Literal(text, { before: '^' });
/** The text anywhere, ignoring case. */
export const containsFolded = (text: string): Literal => new Literal(text, { before: '(?i)' });

/**
 * Letters for which case folding and lowercasing disagree: `σ` and `ς` are equal in a
 * case-insensitive pattern, and different in a tool that compares lowercased texts.
 */
const IRREGULAR =
  /[\u017f\u01c5\u01c8\u01cb\u01f2\u0130\u0131\u03b9\u00b5\u03bc\u03c2\u03c3\u03a3\u03d0\u03b2\u0392\u03d1\u03b8\u0398\u03d5\u03c6\u03a6\u03d6\u03c0\u03a0\u03f0\u03ba\u039a\u03f1\u03c1\u03a1\u03f4\u03f5\u03b5\u0395\u1e9b\u1e61\u1e9e\u00df\u2126\u03c9\u212a\u212b]/;
export const foldsRegularly = (text: string): boolean => !IRREGULAR.test(text);
