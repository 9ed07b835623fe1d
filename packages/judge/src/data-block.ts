/** What a data line begins with, so that nothing in a block can be at the beginning of a line. */
export const DATA_LINE = '| ';

const LINE_BREAKS = /\r\n|[\r\v\f\x85\u2028\u2029]/g;
/** Control characters, zero-width and direction marks, tag characters, variation selectors: what a reader would not see. */
const INVISIBLE = /(?![\n\t])[\p{Cc}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** Our own tags, and the marks chat templates use between turns, in any spelling that normalises to them. */
const OPENING = '[<\\uff1c\\ufe64\\u2039\\u27e8\\u3008]';
const TAG = new RegExp(
  `${OPENING}(?=\\s*[/\\uff0f]?\\s*(?:data|system|user|assistant|human|model|tool|verdict|rubric|instructions?|s|bos|eos|start_of_turn|end_of_turn)\\b)`,
  'giu',
);
const TEMPLATE_MARK = new RegExp(`${OPENING}(?=\\s*[|\\uff5c])|<(?=<\\s*/?\\s*SYS)`, 'giu');
const INST = /\[(?=\s*\/?\s*(?:INST|SYSTEM|END|BEGIN)\b)/gi;

/** For text of unknown origin inside a judge prompt: nothing invisible, no delimiter, no turn mark, no way to begin a line. */
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

/** Cuts the middle out of a text and says so: the end of an answer matters as much as its beginning. */
export function capLength(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = Math.floor(limit * 0.6);
  const tail = limit - head;
  return `${text.slice(0, head)}\n[... ${text.length - limit} characters left out ...]\n${text.slice(-tail)}`;
}

/** A block of data in a judge prompt, between tags that only this prompt knows. */
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
