import { foldText } from '../../kit/text-fold.ts';
import { v } from '../../kit/value-schema.ts';
import { foldedAnswer, NO_ANSWER } from '../answer.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { listIssues } from '../issues.ts';
import { listed, quoted } from '../words.ts';

export const check = defineCheck({
  layer: 'correctness',
  key: 'any_expected_in_answer',
  severity: 'fail',
  order: 20,
  summary: 'At least one of the terms must be in the answer. Case does not count.',
  schema: v.array(v.string()),
  inspect: (terms) => listIssues('any_expected_in_answer', terms),
  evaluate: (terms, { trace }) => {
    const answer = foldedAnswer(trace);
    if (answer === undefined)
      return unmeasured(`${NO_ANSWER}; one of ${terms.length} terms expected in it`, { limit: 1 });
    const found = terms.filter((term) => answer.includes(foldText(term)));
    const details = { any_expected_in_answer: { checked: terms, found } };
    const rest = { value: found.length, limit: 1, details };
    if (found.length > 0)
      return held(`${found.length} of ${terms.length} terms are in the answer, at least 1 is asked for`, rest);
    return violated(
      `none of ${terms.length} terms is in the answer, at least 1 is asked for: ${listed(terms.map(quoted))}`,
      rest,
    );
  },
});
