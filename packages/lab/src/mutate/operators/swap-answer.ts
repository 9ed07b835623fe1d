import { askFor, tellingWord } from '../answer-words.ts';
import { answerSites } from '../answers.ts';
import { defineOperator, pick } from '../operator.ts';

export const operator = defineOperator({
  name: 'swap-answer',
  layer: 'correctness',
  summary: "the answer is another query's",
  sites: (trace, { query, otherAnswers, random }) =>
    answerSites(trace, query, (answer) => {
      const text = pick(otherAnswers, random);
      if (text === undefined) return [];
      const advice = askFor([
        tellingWord(answer, `${query.query} ${text}`),
        tellingWord(answer, text),
      ]);
      return [{ what: "another query's answer", text, advice }];
    }),
});
