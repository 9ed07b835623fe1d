import type { Problem } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import { isMatcher, MATCHER_KEYS } from './argument-matcher.ts';
import { patternIssues } from './pattern-issues.ts';
import { shortJson } from './words.ts';

type Path = readonly (string | number)[];

/** Problems of argument expectations: invalid patterns, misspelt matchers. */
export function argumentIssues(args: Readonly<Record<string, unknown>>, path: Path): Problem[] {
  return Object.entries(args).flatMap(([name, asked]) => {
    const place = [...path, name];
    const patterns =
      isMatcher(asked) && typeof asked.regex === 'string'
        ? patternIssues('regex', asked.regex)
        : [];
    return [
      ...patterns.map((issue) => ({ ...issue, path: [...place, 'regex'] })),
      ...nearMatcherIssue(asked, place),
    ];
  });
}

/**
 * A map whose only key is nearly a matcher would be compared literally, which is rarely intended.
 */
function nearMatcherIssue(asked: unknown, path: Path): Problem[] {
  if (typeof asked !== 'object' || asked === null || Array.isArray(asked) || isMatcher(asked))
    return [];
  const [key, ...others] = Object.keys(asked);
  const near = key === undefined || others.length > 0 ? undefined : didYouMean(key, MATCHER_KEYS);
  if (near === undefined) return [];
  return [
    {
      severity: 'warning',
      code: 'SPEC_NEAR_MATCHER',
      message: `"${key}" is not a matcher, so the argument must be exactly ${shortJson(asked)}`,
      hint: `did you mean "${near}"? Write {equals: ${shortJson(asked)}} if the map itself is meant`,
      path: [...path, key!],
      part: 'key',
    },
  ];
}
