import { escapeTerminalLine } from '@agentci/lib/text';

const MIN_WIDTH = 62;
const MAX_WIDTH = 118;

/**
 * Lines in a double frame; null is the rule below the title. Escapes and cuts text, so that no line
 * breaks the frame.
 */
export function box(lines: readonly (string | null)[]): string {
  const safe = lines.map((line) =>
    line === null ? null : cut(escapeTerminalLine(line), MAX_WIDTH - 4),
  );
  const width = Math.max(
    MIN_WIDTH,
    ...safe.map((line) => (line === null ? 0 : displayWidth(line) + 4)),
  );
  const rule = '═'.repeat(width);
  const framed = safe.map((line) =>
    line === null
      ? `╠${rule}╣`
      : `║  ${line}${' '.repeat(Math.max(0, width - 2 - displayWidth(line)))}║`,
  );
  return [`╔${rule}╗`, ...framed, `╚${rule}╝`].join('\n');
}

const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/u;
const ZERO = /\p{Mark}|\p{Cf}/u;

/**
 * Terminal columns of a text: two for emoji and East Asian characters, none for combining marks.
 */
export function displayWidth(text: string): number {
  let width = 0;
  for (const char of text) if (!ZERO.test(char)) width += WIDE.test(char) ? 2 : 1;
  return width;
}

function cut(text: string, max: number): string {
  if (displayWidth(text) <= max) return text;
  let kept = '';
  let width = 0;
  for (const char of text) {
    width += displayWidth(char);
    if (width > max - 1) break;
    kept += char;
  }
  return `${kept}…`;
}
