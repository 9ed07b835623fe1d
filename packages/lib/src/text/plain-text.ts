interface Span {
  readonly start: number;
  readonly end: number;
}

/** A text as detectors read it, with a mapping to the original. */
export interface PlainText {
  readonly text: string;
  readonly sourceOf: (span: Span) => Span;
  readonly placeOf: (span: Span) => Span;
}

const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cf}]/u;
const DASH = /\p{Pd}/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is "anything but ASCII".
const FOREIGN = /[^\x00-\x7e]/;

/**
 * Removes invisible characters, and converts digits, spaces and dashes of other alphabets to plain
 * ones, so that every number is recognized. Undefined for a text without such characters.
 */
export function plainText(text: string): PlainText | undefined {
  if (!FOREIGN.test(text)) return undefined;
  let plain = '';
  /** Original range of each plain character. */
  const from: Span[] = [];
  let isChanged = false;
  let at = 0;
  for (const character of text) {
    const shown = shownAs(character);
    isChanged ||= shown !== character;
    for (let i = 0; i < shown.length; i++) {
      // An unchanged surrogate pair keeps both positions.
      const start = shown === character ? at + i : at;
      from.push({ start, end: shown === character ? start + 1 : at + character.length });
    }
    plain += shown;
    at += character.length;
  }
  if (!isChanged) return undefined;
  return {
    text: plain,
    sourceOf: ({ start, end }) => ({
      start: from[start]?.start ?? text.length,
      end: from[end - 1]?.end ?? text.length,
    }),
    placeOf: ({ start, end }) => ({
      start: from.findIndex((span) => span.end > start),
      end: from.findLastIndex((span) => span.start < end) + 1,
    }),
  };
}

function shownAs(character: string): string {
  if (character <= '~') return character;
  if (HIDDEN.test(character)) return '';
  if (DASH.test(character)) return '-';
  return /^[\p{N}\p{Z}\uff01-\uff5e]$/u.test(character) ? character.normalize('NFKC') : character;
}
