import type { Problem } from '@agentci/lib/problems';
import { compileRegex, matchesEverything } from '@agentci/lib/regex';

/** Problems of a user's pattern: it does not compile, or it matches every text. */
export function patternIssues(key: string, pattern: string): Problem[] {
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
        code: 'SPEC_BAD_PATTERN',
        message: `${key} does not compile${at}: ${compiled.message}`,
        hint: 'patterns use JavaScript syntax',
      },
    ];
  }
  const slip = slipIssue(key, pattern);
  if (!matchesEverything(pattern)) return slip;
  return [
    ...slip,
    {
      severity: 'warning',
      code: 'SPEC_CANNOT_FAIL',
      message: `${key} is found in every text, so it cannot fail`,
      hint: 'anchor it with ^ and $, or ask for at least one character',
    },
  ];
}

/** Valid patterns that are probably a mistake. */
function slipIssue(key: string, pattern: string): Problem[] {
  if (pattern.includes('\b')) {
    const message = `${key} holds a backspace character: in double quotes YAML reads \\b as one`;
    const hint = 'put the pattern in single quotes, or write \\\\b';
    return [{ severity: 'error', code: 'SPEC_BAD_PATTERN', message, hint }];
  }
  // Trailing flags or an anchor distinguish a pattern in slashes from a path such as /api/v1/.
  const literal = /^\/((?:[^/\\]|\\.)+)\/([dgimsuvy]*)$/s.exec(pattern);
  if (literal === null || (literal[2] === '' && !/^\^|\$$/.test(literal[1]!))) return [];
  const flags = literal[2]!.replace(/[^ims]/g, '');
  const message = `${key} is written between slashes, which are matched literally`;
  const hint = `write it without them: ${flags === '' ? '' : `(?${flags})`}${literal[1]}`;
  return [{ severity: 'warning', code: 'SPEC_BAD_PATTERN', message, hint }];
}
