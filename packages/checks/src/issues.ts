import type { Problem } from '@agentci/lib/problems';
import { exactNameSlip, type NameSlip, patternSlip, visibleText } from '@agentci/lib/text';

/** An empty list would make the check pass always. */
export function emptyListIssue(key: string, hint?: string): Problem {
  return {
    severity: 'error',
    code: 'SPEC_CANNOT_FAIL',
    message: `${key} is empty, so it cannot fail`,
    hint: hint ?? `list what ${key} is about, or remove it`,
  };
}

/** Problems of a list of names or terms: empty, or with blank items. */
export function listIssues(key: string, items: readonly string[]): Problem[] {
  if (items.length === 0) return [emptyListIssue(key)];
  return blankIssues(key, items);
}

/** Fast path: printable ASCII with a visible first character. */
const PRINTED = /^[!-~][ -~]*$/;

export function blankIssues(key: string, items: readonly string[]): Problem[] {
  const issues: Problem[] = [];
  for (let i = 0; i < items.length; i++) {
    const item = items[i]!;
    if (PRINTED.test(item)) continue;
    if (visibleText(item).trim() === '')
      issues.push({
        severity: 'error',
        code: 'SPEC_EMPTY',
        message: `item ${i + 1} of ${key} is blank`,
        path: [i],
      });
    else {
      const [hidden] = INVISIBLE.exec(item) ?? [];
      if (hidden !== undefined) issues.push(invisibleIssue(key, i, item, hidden));
    }
  }
  return issues;
}

/** Problems of a list of exact tool names. */
export const nameIssues = (key: string, names: readonly string[]): Problem[] => [
  ...blankIssues(key, names),
  ...slipIssues(key, names, exactNameSlip),
];

/** Problems of a list of tool-name patterns. A pattern that matches nothing forbids nothing. */
export const patternNameIssues = (key: string, patterns: readonly string[]): Problem[] => [
  ...blankIssues(key, patterns),
  ...slipIssues(key, patterns, patternSlip),
];

const slipIssues = (
  key: string,
  names: readonly string[],
  slipOf: (name: string) => NameSlip | undefined,
): Problem[] =>
  names.flatMap((name, i): Problem[] => {
    const slip = name.trim() === '' ? undefined : slipOf(name);
    if (slip === undefined) return [];
    const message = `item ${i + 1} of ${key} matches no tool: ${slip.why}`;
    return [{ severity: 'error', code: 'SPEC_BAD_PATTERN', message, hint: slip.hint, path: [i] }];
  });

/**
 * Invisible characters from copied text. Joiners are allowed, because emoji and some scripts need
 * them.
 */
const INVISIBLE = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/;

const invisibleIssue = (key: string, i: number, item: string, char: string): Problem => ({
  severity: 'warning',
  code: 'SPEC_INVISIBLE',
  message: `item ${i + 1} of ${key} holds an invisible character (U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}); it is compared as ${JSON.stringify(visibleText(item))}`,
  hint: 'type it again instead of pasting it',
  path: [i],
});

/** A lower bound of 0 always holds. */
export function zeroBoundIssues(key: string, min: number): Problem[] {
  if (min > 0) return [];
  return [
    {
      severity: 'warning',
      code: 'SPEC_CANNOT_FAIL',
      message: `${key}: 0 cannot fail`,
      hint: 'give a bound above 0, or remove it',
    },
  ];
}

/** A check that needs another key to compare with. */
export function neededKeyIssue(
  key: string,
  needed: string,
  severity: Problem['severity'],
): Problem {
  return {
    severity,
    code: 'SPEC_NEEDS_KEY',
    message: `${key} needs ${needed}`,
    hint: `add ${needed} next to it`,
  };
}

export function contradiction(message: string, path?: readonly (string | number)[]): Problem {
  return {
    severity: 'error',
    code: 'SPEC_CONTRADICTION',
    message,
    hint: 'both cannot hold for one run',
    path,
  };
}

/** The texts of a sibling key, or an empty list for any other value. */
export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
