import { compileRegex, RegexTimeout } from '@agentci/lib/regex';
import { v } from '@agentci/lib/values';
import { finalText } from '@agentci/trace';
import { noAnswer } from '../answer.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { patternIssues } from '../pattern-issues.ts';
import { clip } from '../words.ts';

export const check = defineCheck({
  layer: 'correctness',
  key: 'regex_match',
  severity: 'fail',
  order: 50,
  summary: 'The regular expression must be found in the answer. Case counts.',
  wants: (pattern) => `The answer matches the pattern ${clip(pattern)}`,
  failure: {
    why: 'the pattern matches nowhere',
    help: 'patterns are case-sensitive and in JavaScript syntax. Try it on the answer in the report',
  },
  example: '\\b\\d{1,2} days\\b',
  schema: v.string(),
  inspect: (pattern) => patternIssues('regex_match', pattern),
  evaluate: (pattern, { trace }) => {
    const compiled = compileRegex(pattern);
    if (!compiled.ok)
      return unmeasured(`regex_match: the pattern does not compile: ${compiled.message}`, {
        limit: pattern,
      });
    const answer = finalText(trace);
    const shown = `/${clip(pattern)}/`;
    if (answer === undefined)
      return unmeasured(`${noAnswer(trace)}; ${shown} expected in it`, { limit: pattern });
    try {
      const match = compiled.regex.firstMatch(answer);
      const details = { regex_match: { pattern, matched: match !== undefined } };
      if (match === undefined)
        return violated(`${shown} is not found in the ${answer.length} characters of the answer`, {
          value: null,
          limit: pattern,
          details,
        });
      const value = clip(match.text);
      return held(`${shown} is found at character ${match.index + 1} of the answer`, {
        value,
        limit: pattern,
        details,
        evidence: [{ text: value }],
      });
    } catch (error) {
      if (!(error instanceof RegexTimeout)) throw error;
      return unmeasured(`regex_match: ${error.message}`, { limit: pattern });
    }
  },
});
