// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is made visible.
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f]/g;
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Makes untrusted text safe to display: invisible and direction characters become visible signs.
 */
export function visible(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(CONTROL, (char) =>
      char === '\x7f' ? '\u2421' : String.fromCharCode(0x2400 + char.charCodeAt(0)),
    )
    .replace(
      DIRECTION,
      (char) => `[U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}

/** The value of a check: text unchanged, anything else as JSON. */
export function valueText(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return visible(text.length > 400 ? `${text.slice(0, 400)}…` : text);
}
