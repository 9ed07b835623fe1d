/** Prefix of data lines, so that nothing in a block can start a line. */
export const DATA_LINE = '| ';

const LINE_BREAKS = /\r\n|[\r\v\f\x85\u2028\u2029]/g;
/**
 * Invisible characters: control characters, zero-width and direction marks, tag characters,
 * variation selectors.
 */
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Our tags and the turn markers of chat templates, in any spelling that normalizes to them. */
const OPENING = '[<\\uff1c\\ufe64\\u2039\\u27e8\\u3008]';
const TAG = new RegExp(
  `${OPENING}(?=\\s*[/\\uff0f]?\\s*(?:data|system|user|assistant|human|model|tool|verdict|rubric|instructions?|s|bos|eos|start_of_turn|end_of_turn)\\b)`,
  'giu',
);
const TEMPLATE_MARK = new RegExp(`${OPENING}(?=\\s*[|\\uff5c])|<(?=<\\s*/?\\s*SYS)`, 'giu');
const INST = /\[(?=\s*\/?\s*(?:INST|SYSTEM|END|BEGIN)\b)/gi;

/**
 * Neutralizes untrusted text in a judge prompt: no invisible characters, delimiters or turn
 * markers, and no way to start a line.
 */
export function neutralize(text: string): string {
  const plain = text
    .replace(LINE_BREAKS, '\n')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .replace(INVISIBLE, '')
    .replace(TAG, '(')
    .replace(TEMPLATE_MARK, '(')
    .replace(INST, '(');
  return plain
    .split('\n')
    .map((line) => `${DATA_LINE}${line}`)
    .join('\n');
}

/**
 * Cuts the middle out of a text and marks the gap, because the end of an answer matters as much as
 * its start.
 */
export function capLength(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = Math.floor(limit * 0.6);
  const tail = limit - head;
  return `${text.slice(0, head)}\n[... ${text.length - limit} characters left out ...]\n${text.slice(-tail)}`;
}

/** A data block between tags that are unique to this prompt. */
export function dataBlock(options: {
  name: string;
  text: string;
  nonce: string;
  limit: number;
}): string {
  const { name, text, nonce, limit } = options;
  const body = neutralize(capLength(text, limit)).replaceAll(nonce, '');
  return `<data-${nonce} name="${name}">\n${body}\n</data-${nonce}>`;
}
