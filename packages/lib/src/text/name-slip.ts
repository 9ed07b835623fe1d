import { visibleName } from './visible-text.ts';

/** Why a text is probably not a tool name, and the likely intended one. */
export interface NameSlip {
  readonly why: string;
  readonly hint: string;
}

/**
 * Finds mistakes in a tool-name pattern: several names in one text, a regular expression, the
 * negation or braces of other glob dialects. A prohibition that matches nothing forbids nothing. A
 * real tool may have such a name, so the hint shows how to write it: `?` matches any one character.
 * `functions.*` is a valid glob.
 */
export function patternSlip(pattern: string): NameSlip | undefined {
  const why = whyPattern(pattern);
  if (why === undefined) return undefined;
  return {
    why,
    hint: `${meant(pattern)}; a tool that is really called so is written ${JSON.stringify(escapedName(pattern))}`,
  };
}

/**
 * Like `patternSlip` for literal names, which may contain a space, as in "Delegate work to
 * coworker".
 */
export function exactNameSlip(name: string): NameSlip | undefined {
  let why: string | undefined;
  if (/ - /.test(name)) why = SEVERAL;
  else if (/^-|[,;{}"`]|^'|'$|^!|^\[.*\]$/s.test(name)) why = whyPattern(name);
  return why === undefined ? undefined : { why, hint: meant(name) };
}

/**
 * A pattern for exactly this name that is not reported as a mistake, with `?` for the suspicious
 * characters.
 */
export const escapedName = (name: string): string =>
  visibleName(name)
    .replace(/[\s,;{}|()\\&%[\]]/gu, '?')
    .replace(/^[-!^'"`./]|[$'"`:]$/gu, '?');

const SEVERAL = 'it is several names in one';

function whyPattern(pattern: string): string | undefined {
  if (pattern !== pattern.trim()) return 'it begins or ends with a space';
  if (/^!/.test(pattern)) return 'a list has no exceptions, and ! is taken literally';
  if (/^["'`]|["'`]$/.test(pattern)) return 'the quotes are part of it';
  if (/^\[[^\]]*\]$/.test(pattern))
    return /^\[(.|.-.|[!^].)\]$/u.test(pattern)
      ? undefined
      : 'in brackets it is one character of a set';
  if (/[{}]/.test(pattern)) return 'braces are taken literally';
  if (/^-\s?\S|[,;&]|\s-\s/.test(pattern)) return SEVERAL;
  if (/^\^|\$$|^\/.*\/[a-z]*$|^\.\*|[\\|()]/.test(pattern))
    return 'it is written as a regular expression';
  if (/\s/.test(pattern)) return SEVERAL;
  if (/%/.test(pattern)) return 'the wildcard is *, not %';
  if (/:$/.test(pattern)) return 'it ends with a colon';
  if (/[[\]]/.test(pattern.replace(/\[[!^]?\]?[^\]]*\]/g, ''))) return 'a bracket has no partner';
  return undefined;
}

/** The likely intended names in the right spelling. */
function meant(pattern: string): string {
  const names = [...new Set(expandBraces(pattern).flatMap(namesIn))].slice(0, MAX_NAMES);
  if (names.length === 0)
    return 'write the name of the tool; * matches any run of characters, ? exactly one';
  if (names.length === 1)
    return `write ${names[0]}; * matches any run of characters, ? exactly one`;
  return `write each as a separate item: [${names.join(', ')}]`;
}

const MAX_NAMES = 10;

const namesIn = (text: string): string[] =>
  text
    .split(/[\s,;&|()"'`{}[\]\\^$/]+|^!|^-/u)
    .map((name) =>
      name
        .replace(/^[!-]+|:$/g, '')
        .replaceAll('%', '*')
        .replace(/^\.\*|\.\*$/g, '*'),
    )
    .filter((name) => name !== '' && name !== '-');

/** `{a,b}_x` in other glob dialects means `a_x` and `b_x`. */
function expandBraces(pattern: string): string[] {
  const found = /^([^{}]*)\{([^{}]*)\}([^{}]*)$/.exec(pattern);
  if (found === null) return [pattern];
  const [, before = '', inside = '', after = ''] = found;
  return inside.split(',').map((part) => `${before}${part.trim()}${after}`);
}
