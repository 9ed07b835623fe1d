import { isObject } from '../data/object.ts';

/**
 * JSON that keeps the digits of numbers JavaScript would round: the ids 9007199254740993 and
 * 9007199254740992 are equal after `JSON.parse`. Such a number is read as `{"$number":
 * "9007199254740993"}` and written as a number again. A real field named `$number` gets an extra
 * `$` in memory.
 */
const NUMBER_KEY = '$number';
const OWN_KEY = /^\$+number$/;
/**
 * Fast test for texts that may have such a number or field: many digits in a row, a large exponent,
 * the name.
 */
const MAY_DIFFER = /[\d.]{16}|\d[eE][+-]?\d{2}|\$+number"|\\u0024/;

/** Like `JSON.parse`, but keeps the digits of every number. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!MAY_DIFFER.test(text)) return value;
  const kept = keepDigits(text);
  return kept === text ? value : JSON.parse(kept);
}

/** Whether it is a number with its digits kept. */
export const isExactNumber = (value: unknown): boolean =>
  isObject(value) && typeof value[NUMBER_KEY] === 'string' && Object.keys(value).length === 1;

/** Serializes a value from `parseExact`, with its original numbers. */
export function stringifyExact(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  if (text === undefined || !text.includes(`${NUMBER_KEY}"`)) return text;
  // Inside strings both forms would contain backslashes.
  return text
    .replace(/\{\s*"\$number":\s*"(-?\d[\d.eE+-]*)"\s*\}/g, '$1')
    .replace(/"\$(\$+number)":/g, '"$1":');
}

/** Rewrites every number that would be rounded. The text must be valid JSON. */
function keepDigits(text: string): string {
  let out = '';
  let copied = 0;
  let at = 0;
  const replace = (end: number, by: string): void => {
    out += text.slice(copied, at) + by;
    copied = end;
  };
  while (at < text.length) {
    const code = text.charCodeAt(at);
    let end = at + 1;
    if (code === 0x22) {
      end = endOfText(text, at);
      if (end - at < MAX_KEY && isKey(text, end)) {
        const key = JSON.parse(text.slice(at, end)) as string;
        if (OWN_KEY.test(key)) replace(end, `"$${key}"`);
      }
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      while (end < text.length && isOfNumber(text.charCodeAt(end))) end++;
      const token = text.slice(at, end);
      if (isRounded(token)) replace(end, `{"${NUMBER_KEY}":"${token}"}`);
    }
    at = end;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

/** Longer names cannot be ours, however they are escaped. */
const MAX_KEY = 200;

function endOfText(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  for (;;) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
}

function isKey(text: string, from: number): boolean {
  let at = from;
  while (/\s/.test(text.charAt(at))) at++;
  return text.charAt(at) === ':';
}

/** Digits, signs, the point and the exponent. */
const isOfNumber = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  code === 0x2e ||
  code === 0x2b ||
  code === 0x2d ||
  code === 0x65 ||
  code === 0x45;

/** Whether JavaScript would print the number with other digits. */
function isRounded(token: string): boolean {
  const number = Number(token);
  return token.length > 15 || /e/i.test(token)
    ? decimalOf(token) !== decimalOf(String(number))
    : false;
}

/** Sign, digits and exponent in canonical form: `12.50e3` and `1.25e4` are equal. */
function decimalOf(token: string): string {
  const [, sign, whole, part = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  if (whole === undefined) return token;
  const digits = `${whole}${part}`.replace(/^0+/, '');
  const bare = digits.replace(/0+$/, '');
  if (bare === '') return '0';
  return `${sign}${bare}e${Number(exponent) - part.length + digits.length - bare.length}`;
}

/**
 * Whether a whole number in a value may have lost digits when it was read, because it exceeds the
 * exact range.
 */
export function hasLostDigits(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value);
  if (Array.isArray(value)) return value.some(hasLostDigits);
  return isObject(value) && Object.values(value).some(hasLostDigits);
}
