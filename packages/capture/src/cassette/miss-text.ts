import { present } from '@agentci/lib/data';
import { isExactNumber, stringifyExact } from '@agentci/lib/json';
import { clip, plural } from '@agentci/lib/text';
import type { Miss } from './recorded-answers.ts';

/**
 * Invisible characters, or those that only change the writing direction. JSON escapes ASCII
 * controls.
 */
const HIDDEN = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cf}\x7f-\x9f\u2028\u2029]/u;

/** Number of characters shown around the first difference. */
const BEFORE = 30;
const AFTER = 60;

/**
 * Describes a miss: the request, the nearest entry, the first difference with its cause, and a way
 * to make it match.
 */
export function missText(
  miss: Miss,
  { file, call }: { readonly file: string; readonly call: number },
): string {
  const { request, nearest, first, others, recordedTimes, scrub } = miss;
  const what = `call ${call} (${request.method} ${request.path.split('?')[0]}) is not in ${file}`;
  if (recordedTimes !== undefined)
    return `${what} once more: the same request was asked ${plural(recordedTimes + 1, 'time')} and recorded ${plural(recordedTimes, 'time')}`;
  if (nearest === undefined) return `${what}, which is empty`;
  if (first === undefined) return `${what}; no difference from exchange ${nearest.i} can be shown`;
  const place = first.pointer === undefined ? '' : ` at ${first.pointer}`;
  const [recorded, asked] = excerpts(first.recorded, first.asked);
  const also = [...new Set(others)].filter((cause) => cause !== first.cause);
  return present([
    `${what}; the first difference from exchange ${nearest.i} is the ${first.cause}${place}: recorded ${recorded}, asked ${asked}`,
    also.length === 0 ? undefined : `also different: ${also.join(', ')}`,
    scrub === undefined
      ? undefined
      : `it would match with "scrub: [${scrub.join(', ')}]" under "cassette"`,
  ]).join('; ');
}

/** Both values around the first different character. */
function excerpts(recorded: unknown, asked: unknown): [string, string] {
  const [a, b] = [textOf(recorded), textOf(asked)];
  if (a === undefined || b === undefined) return [shown(a, 0), shown(b, 0)];
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  const start = at > BEFORE + 10 ? at - BEFORE : 0;
  const [left, right] = [shown(a, start), shown(b, start)];
  // Shows code points if the texts look the same: combining accents, or invisible characters.
  const from = [a, b].some((text) => /[\uDC00-\uDFFF]/.test(text.charAt(at))) ? at - 1 : at;
  const isHidden = [a, b].some((text) =>
    HIDDEN.test(String.fromCodePoint(text.codePointAt(from) ?? 0x20)),
  );
  if (!isHidden && left.normalize('NFKC') !== right.normalize('NFKC')) return [left, right];
  if (a === b) return [`${left} (${typeOf(recorded)})`, `${right} (${typeOf(asked)})`];
  return [`${left} (${codePoints(a, from)})`, `${right} (${codePoints(b, from)})`];
}

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (isExactNumber(value)) return 'a number';
  if (typeof value === 'object') return 'JSON';
  return `a ${typeof value}`;
};

const textOf = (value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (typeof value === 'string') return value;
  return stringifyExact(value);
};

const shown = (text: string | undefined, start: number): string =>
  text === undefined
    ? 'nothing'
    : JSON.stringify(`${start > 0 ? '…' : ''}${clip(text.slice(start), BEFORE + AFTER)}`);

/** The code points from the first difference on. */
const codePoints = (text: string, at: number): string => {
  const points = [...text.slice(at)]
    .slice(0, 4)
    .map((char) => char.codePointAt(0)!.toString(16).toUpperCase());
  return points.length === 0
    ? 'ends there'
    : points.map((hex) => `U+${hex.padStart(4, '0')}`).join(' ');
};
