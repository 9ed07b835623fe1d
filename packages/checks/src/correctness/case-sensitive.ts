import { v } from '@agentci/lib/values';
import { defineSetting } from '../check.ts';

const TERM_CHECKS = [
  'expected_in_answer',
  'any_expected_in_answer',
  'not_in_answer',
  'starts_with',
] as const;

export const setting = defineSetting({
  layer: 'correctness',
  key: 'case_sensitive',
  order: 35,
  summary:
    'Whether case counts in the term checks next to it and in `starts_with`. Default: false.',
  example: true,
  schema: v.boolean(),
  inspect: (_, siblings) =>
    TERM_CHECKS.some((key) => siblings[key] !== undefined)
      ? []
      : [
          {
            severity: 'error',
            code: 'SPEC_NEEDS_KEY',
            message: `case_sensitive needs ${TERM_CHECKS.slice(0, -1).join(', ')} or starts_with`,
            hint: 'add one of them next to it',
          },
        ],
});
