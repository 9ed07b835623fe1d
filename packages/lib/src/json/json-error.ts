/** Where and how a text stops being JSON. `isEnd`: the text is cut off there. */
export interface JsonError {
  /** In UTF-16 units from the start of the text. */
  readonly offset: number;
  readonly message: string;
  readonly isEnd: boolean;
}

type Expecting = 'value' | 'value-or-close' | 'key' | 'key-or-close' | 'colon' | 'next' | 'end';

const LITERALS = ['true', 'false', 'null'];
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const EXPECTED: Readonly<Record<Expecting, string>> = {
  value: 'a value',
  'value-or-close': 'a value or "]"',
  key: 'a key in double quotes',
  'key-or-close': 'a key in double quotes or "}"',
  colon: '":" after the key',
  next: '"," or the end of the object or list',
  end: 'nothing more after the value',
};

/**
 * Finds the first error in a text that `JSON.parse` refused. V8's messages lack the position for
 * short texts and quote the text, which is untrusted.
 */
export function findJsonError(text: string): JsonError | undefined {
  const open: ('{' | '[')[] = [];
  let expecting: Expecting = 'value';
  let i = 0;
  const fail = (offset: number, message: string, isEnd = offset >= text.length): JsonError => ({
    offset,
    message,
    isEnd,
  });
  const afterValue = (): Expecting => (open.length === 0 ? 'end' : 'next');

  for (;;) {
    while (i < text.length && isSpace(text.charCodeAt(i))) i++;
    if (i >= text.length)
      return expecting === 'end' ? undefined : fail(i, `expected ${EXPECTED[expecting]}`);
    const c: string = text[i]!;
    const wantsValue: boolean = expecting === 'value' || expecting === 'value-or-close';
    const wantsKey: boolean = expecting === 'key' || expecting === 'key-or-close';
    if (c === '"' && (wantsValue || wantsKey)) {
      const end = scanString(text, i);
      if (typeof end !== 'number') return fail(end.offset, end.message);
      i = end;
      expecting = wantsKey ? 'colon' : afterValue();
    } else if ((c === '{' || c === '[') && wantsValue) {
      open.push(c);
      expecting = c === '{' ? 'key-or-close' : 'value-or-close';
      i++;
    } else if (
      closes(c, open.at(-1)) &&
      (expecting === 'next' || expecting.endsWith('-or-close'))
    ) {
      open.pop();
      expecting = afterValue();
      i++;
    } else if (c === ',' && expecting === 'next') {
      expecting = open.at(-1) === '{' ? 'key' : 'value';
      i++;
    } else if (c === ':' && expecting === 'colon') {
      expecting = 'value';
      i++;
    } else if (wantsValue) {
      const end = scanScalar(text, i);
      if (end === undefined) return fail(i, `expected ${EXPECTED[expecting]}`);
      if (end === CUT) return fail(i, `expected ${EXPECTED[expecting]}`, true);
      i = end;
      expecting = afterValue();
    } else return fail(i, `expected ${EXPECTED[expecting]}`);
  }
}

const isSpace = (c: number): boolean => c === 32 || c === 10 || c === 13 || c === 9;
const closes = (c: string, opener: '{' | '[' | undefined): boolean =>
  (c === '}' && opener === '{') || (c === ']' && opener === '[');

/** The text ends inside a literal or a number. */
const CUT = -1;
const LONGEST_LITERAL = 5;
const CUT_NUMBER = /-$|-?(?:0|[1-9]\d*)(?:\.|(?:\.\d+)?[eE][+-]?)$/y;

function scanScalar(text: string, start: number): number | undefined {
  for (const literal of LITERALS)
    if (text.startsWith(literal, start)) return start + literal.length;
  const rest = text.slice(start, start + LONGEST_LITERAL);
  if (text.length - start < LONGEST_LITERAL && LITERALS.some((literal) => literal.startsWith(rest)))
    return CUT;
  CUT_NUMBER.lastIndex = start;
  if (CUT_NUMBER.test(text)) return CUT;
  NUMBER.lastIndex = start;
  return NUMBER.test(text) ? NUMBER.lastIndex : undefined;
}

/** The index after the closing quote, or the problem inside. */
function scanString(text: string, start: number): number | { offset: number; message: string } {
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 34) return i + 1;
    if (c < 32)
      return { offset: i, message: 'a control character inside a string must be escaped' };
    if (c !== 92) continue;
    const escaped = text[i + 1];
    if (escaped === undefined) break;
    if (escaped === 'u') {
      const digits = text.slice(i + 2, i + 6);
      if (i + 2 + digits.length === text.length && /^[0-9a-fA-F]{0,3}$/.test(digits)) break;
      if (!/^[0-9a-fA-F]{4}$/.test(digits))
        return { offset: i, message: '"\\u" needs four hex digits' };
      i += 5;
    } else if ('"\\/bfnrt'.includes(escaped)) i++;
    else return { offset: i, message: 'an unknown escape inside a string' };
  }
  return { offset: text.length, message: 'a string is not closed' };
}
