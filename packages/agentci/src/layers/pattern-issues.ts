import { compileRegex, matchesEverything } from '../kit/regex.ts';
import type { ParamIssue } from './check.ts';

/** What is wrong with a pattern a user wrote: it does not compile, or it is found in every text. */
export function patternIssues(key: string, pattern: string): ParamIssue[] {
  if (pattern === '') {
    return [
      {
        severity: 'error',
        code: 'SPEC_CANNOT_FAIL',
        message: `${key} is empty, and the empty pattern is found in every text`,
      },
    ];
  }
  const compiled = compileRegex(pattern);
  if (!compiled.ok) {
    const at = compiled.offset === undefined ? '' : ` at character ${compiled.offset + 1}`;
    return [
      {
        severity: 'error',
        code: 'SPEC_BAD_REGEX',
        message: `${key} does not compile${at}: ${compiled.message}`,
        hint: 'patterns use JavaScript syntax',
      },
    ];
  }
  if (!matchesEverything(pattern)) return [];
  return [
    {
      severity: 'warning',
      code: 'SPEC_CANNOT_FAIL',
      message: `${key} is found in every text, so it cannot fail`,
      hint: 'anchor it with ^ and $, or ask for at least one character',
    },
  ];
}
