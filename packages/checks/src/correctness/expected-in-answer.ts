import { v } from '@agentci/lib/values';
import { noAnswer, searching } from '../answer.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { listIssues } from '../issues.ts';
import { listed, plural, quoted } from '../words.ts';

export const check = defineCheck({
  layer: 'correctness',
  key: 'expected_in_answer',
  severity: 'fail',
  order: 10,
  summary:
    'Every term must be in the answer. Case does not count, unless `case_sensitive` is true.',
  wants: (terms) => `The answer contains all of ${listed(terms.map(quoted))}`,
  failure: {
    why: 'a term is not in the answer. Case and formatting do not count',
    help: 'see which term is missing. Accept other wordings with `any_expected_in_answer`, or use a rubric for meaning',
  },
  example: ['refund', '14 days'],
  schema: v.array(v.string()),
  inspect: (terms) => listIssues('expected_in_answer', terms),
  evaluate: (terms, context) => {
    const { trace } = context;
    const { answer, prepare } = searching(context);
    const limit = terms.length;
    if (answer === undefined)
      return unmeasured(`${noAnswer(trace)}; expected ${plural(limit, 'term')}`, { limit });
    const missing = terms.filter((term) => !answer.includes(prepare(term)));
    const value = limit - missing.length;
    const details = { expected_in_answer: { checked: terms, all_found: missing.length === 0 } };
    if (missing.length === 0)
      return held(`found ${value} of ${plural(limit, 'expected term')}`, { value, limit, details });
    return violated(
      `found ${value} of ${plural(limit, 'expected term')}; missing: ${listed(missing.map(quoted))}`,
      {
        value,
        limit,
        details,
      },
    );
  },
});
