import { Literal } from './literal.ts';
import type { BlockValue } from './model.ts';

/** The style of texts: unchanged, or with `{{` escaped because variables are in scope. */
export type TextWriter = (text: string) => string;

const PLAIN = /^[A-Za-z_][A-Za-z0-9_ /.()'-]*$/;
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n|~|inf|nan)$/i;
/** Characters with a special meaning in YAML or a terminal. JSON's quoting makes them readable. */
const CONTROL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ud800-\udfff\u200b-\u200f\u202a-\u202e]/;
const MAX_FLOW = 100;

/** One line of YAML for a text. */
export function quoteText(text: string): string {
  if (PLAIN.test(text) && !WORDS.test(text) && !text.endsWith(' ')) return text;
  if (!/[\n\t]/.test(text) && !CONTROL.test(text)) return `'${text.replaceAll("'", "''")}'`;
  // Escaped individually, because JSON allows characters in a text that YAML does not.
  return JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ud800-\udfff\u200b-\u200f\u202a-\u202e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A text of several lines as a block, if YAML preserves it. */
function blockText(text: string, indent: string): string[] | undefined {
  if (!text.includes('\n') || /[\t\r]/.test(text) || CONTROL.test(text)) return undefined;
  if (
    /^\s|\s$|\n[ ]*\n[ ]*\n/.test(text) ||
    text.split('\n').some((line) => /^ *$/.test(line) && line !== '')
  )
    return undefined;
  return ['|-', ...text.split('\n').map((line) => (line === '' ? '' : `${indent}  ${line}`))];
}

const isScalar = (value: BlockValue): value is null | boolean | number | string | Literal =>
  value === null || typeof value !== 'object' || value instanceof Literal;

function scalar(value: null | boolean | number | string | Literal, write: TextWriter): string {
  if (value instanceof Literal) return quoteText(write(value.pattern));
  if (typeof value === 'string') return quoteText(write(value));
  return JSON.stringify(value);
}

/** A value on one line, or undefined if it is too long. */
function flow(value: BlockValue, write: TextWriter): string | undefined {
  if (isScalar(value)) {
    const text = scalar(value, write);
    return text.length > MAX_FLOW || (/[,[\]{}]/.test(text) && !/^['"]/.test(text))
      ? undefined
      : text;
  }
  const items: string[] = [];
  let length = 2;
  for (const [key, item] of Array.isArray(value)
    ? value.map((one) => [undefined, one] as const)
    : Object.entries(value)) {
    const text = flow(item as BlockValue, write);
    if (text === undefined) return undefined;
    items.push(key === undefined ? text : `${quoteText(key)}: ${text}`);
    length += items.at(-1)!.length + 2;
    if (length > MAX_FLOW) return undefined;
  }
  return Array.isArray(value) ? `[${items.join(', ')}]` : `{${items.join(', ')}}`;
}

/** `key: value` in as many lines as needed. */
export function entryLines(
  key: string,
  value: BlockValue,
  indent: string,
  write: TextWriter,
): string[] {
  const name = `${indent}${quoteText(key)}:`;
  if (isScalar(value)) {
    const block = typeof value === 'string' ? blockText(write(value), indent) : undefined;
    return block === undefined
      ? [`${name} ${scalar(value, write)}`]
      : [`${name} ${block[0]}`, ...block.slice(1)];
  }
  const short = flow(value, write);
  if (short !== undefined) return [`${name} ${short}`];
  if (Array.isArray(value))
    return [name, ...value.flatMap((item) => itemLines(item as BlockValue, `${indent}  `, write))];
  return [
    name,
    ...Object.entries(value).flatMap(([inner, item]) =>
      entryLines(inner, item, `${indent}  `, write),
    ),
  ];
}

/** `- value` in as many lines as needed. */
export function itemLines(value: BlockValue, indent: string, write: TextWriter): string[] {
  const short = flow(value, write);
  if (short !== undefined) return [`${indent}- ${short}`];
  if (isScalar(value)) {
    const block = typeof value === 'string' ? blockText(write(value), indent) : undefined;
    return block === undefined
      ? [`${indent}- ${scalar(value, write)}`]
      : [`${indent}- ${block[0]}`, ...block.slice(1)];
  }
  const lines = Array.isArray(value)
    ? value.flatMap((item) => itemLines(item as BlockValue, `${indent}  `, write))
    : Object.entries(value).flatMap(([key, item]) => entryLines(key, item, `${indent}  `, write));
  return [`${indent}- ${lines[0]!.slice(indent.length + 2)}`, ...lines.slice(1)];
}

/** A comment on one line, for any text. */
export const comment = (text: string, indent: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  `${indent}# ${text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff\ud800-\udfff]+/g, ' ').slice(0, 300)}`;

/** Variables are in scope, so literal braces are escaped. */
export const escapeBraces: TextWriter = (text) => text.replace(/(\\*)\{\{/g, '$1$1\\{{');
export const asWritten: TextWriter = (text) => text;
