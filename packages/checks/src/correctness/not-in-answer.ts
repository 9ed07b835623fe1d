import type { Problem } from '@agentci/lib/problems';
import { foldText, visibleText } from '@agentci/lib/text';
import { v } from '@agentci/lib/values';
import { withMore } from '@agentci/results';
import type { Trace } from '@agentci/trace';
import { answerOfTurn } from '@agentci/trace';
import { excerpt, noAnswer, searching } from '../answer.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { contradiction, listIssues, textsOf } from '../issues.ts';
import { listed, plural, quoted } from '../words.ts';

export const check = defineCheck({
  layer: 'correctness',
  key: 'not_in_answer',
  severity: 'fail',
  order: 30,
  summary:
    'None of the terms may be in the answer, nor in any answer of a conversation. Case does not count, unless `case_sensitive` is true.',
  wants: (terms) => `The answer contains none of ${listed(terms.map(quoted))}`,
  failure: {
    why: 'a forbidden term is in the answer',
    help: 'the console marks it. A term that is also part of a good word needs more context',
  },
  example: ['guarantee', 'legal advice'],
  schema: v.array(v.string()),
  inspect: (terms, siblings) => [
    ...listIssues('not_in_answer', terms),
    ...contradictions(terms, siblings),
  ],
  evaluate: (terms, context) => {
    const { trace } = context;
    const { answer, prepare } = searching(context);
    const earlier = earlierAnswers(trace).map(({ text, turn }) => ({
      text: text && prepare(text),
      turn,
    }));
    const turns = trace.conversation?.turns ?? [];
    // A single answer has no turn number.
    const answers = [
      { text: answer, turn: earlier.length === 0 ? undefined : turns.at(-1)?.turn },
      ...earlier,
    ];
    const said = answers.flatMap(({ text, turn }) => (text === undefined ? [] : [{ text, turn }]));
    const found = terms.flatMap((term) => {
      const looked = prepare(term);
      const hit = said.find(({ text }) => text.includes(looked));
      return hit === undefined ? [] : [{ term, ...hit, at: hit.text.indexOf(looked) }];
    });
    if (found.length === 0 && said.length < answers.length) {
      const missing =
        answer === undefined ? noAnswer(trace) : 'the answer of an earlier turn was not captured';
      return unmeasured(`${missing}; ${plural(terms.length, 'term')} must not be in it`, {
        limit: 0,
      });
    }
    const details = { not_in_answer: { checked: terms, none_found: found.length === 0 } };
    const rest = { value: found.length, limit: 0, details };
    if (found.length === 0)
      return held(`found 0 of ${plural(terms.length, 'forbidden term')}`, rest);
    const shown = found.slice(0, 10).map(({ term, text, at, turn }) => ({
      text: excerpt(text, at, term.length),
      turn,
    }));
    const evidence = withMore(shown, found.length - shown.length);
    const names = listed(
      found.map(
        ({ term, turn }) => `${quoted(term)}${turn === undefined ? '' : ` in turn ${turn}`}`,
      ),
    );
    return violated(
      `found ${found.length} of ${plural(terms.length, 'forbidden term')}: ${names}`,
      {
        ...rest,
        evidence,
      },
    );
  },
});

/** Earlier answers of a conversation count too: the user has read them. */
const earlierAnswers = ({
  conversation,
}: Trace): { readonly text: string | undefined; readonly turn: number }[] =>
  (conversation?.turns ?? [])
    .slice(0, -1)
    .map((each) => ({ text: answerOfTurn(each), turn: each.turn }));

/** An expected text that contains a forbidden term can never appear without it. */
function contradictions(
  terms: readonly string[],
  siblings: Readonly<Record<string, unknown>>,
): Problem[] {
  const issues: Problem[] = [];
  const prepare = siblings.case_sensitive === true ? visibleText : foldText;
  const expected = textsOf(siblings.expected_in_answer);
  if (typeof siblings.exact_match === 'string') expected.push(siblings.exact_match);
  const anyOf = textsOf(siblings.any_expected_in_answer);
  if (expected.length + anyOf.length === 0) return issues;
  const expectedTexts = expected.map(prepare);
  const anyTexts = anyOf.map(prepare);
  for (let i = 0; i < terms.length; i++) {
    const term = terms[i]!;
    if (term.trim() === '') continue;
    const looked = prepare(term);
    const clash = expectedTexts.findIndex((text) => text.includes(looked));
    if (clash !== -1)
      issues.push(
        contradiction(`${quoted(term)} is forbidden, but ${quoted(expected[clash]!)} is expected`, [
          i,
        ]),
      );
    else if (anyTexts.length > 0 && anyTexts.every((text) => text.includes(looked))) {
      issues.push(
        contradiction(
          `${quoted(term)} is forbidden, but every term of any_expected_in_answer contains it`,
          [i],
        ),
      );
    }
  }
  return issues;
}
