import { v } from '@agentci/lib/values';
import { noAnswer, searching } from '../answer.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { listIssues } from '../issues.ts';
import { listed, plural, quoted } from '../words.ts';

export const check = defineCheck({
  layer: 'correctness',
  key: 'any_expected_in_answer',
  severity: 'fail',
  order: 20,
  summary:
    'At least one of the terms must be in the answer. Case does not count, unless `case_sensitive` is true.',
  wants: (terms) => `The answer contains at least one of ${listed(terms.map(quoted))}`,
  failure: {
    why: 'none of the terms is in the answer',
    help: 'add the wording the agent uses, if it is right',
  },
  example: ['refund', 'money back', 'reimbursement'],
  schema: v.array(v.string()),
  inspect: (terms) => listIssues('any_expected_in_answer', terms),
  evaluate: (terms, context) => {
    const { trace } = context;
    const { answer, prepare } = searching(context);
    if (answer === undefined)
      return unmeasured(`${noAnswer(trace)}; expected one of ${plural(terms.length, 'term')}`, {
        limit: 1,
      });
    const found = terms.filter((term) => answer.includes(prepare(term)));
    const details = { any_expected_in_answer: { checked: terms, found } };
    const rest = { value: found.length, limit: 1, details };
    if (found.length > 0)
      return held(
        `found ${found.length} of ${plural(terms.length, 'term')} (need at least 1)`,
        rest,
      );
    return violated(
      `found 0 of ${plural(terms.length, 'term')} (need at least 1): ${listed(terms.map(quoted))}`,
      rest,
    );
  },
});
