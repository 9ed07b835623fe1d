import { askFor, tellingWord } from '../answer-words.ts';
import { answerSites } from '../answers.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'empty-answer',
  layer: 'correctness',
  summary: 'the answer is empty',
  sites: (trace, { query }) =>
    answerSites(trace, query, (answer) => [
      {
        what: 'an empty answer',
        text: '',
        advice: askFor([tellingWord(answer, query.query), tellingWord(answer)]),
      },
    ]),
});
