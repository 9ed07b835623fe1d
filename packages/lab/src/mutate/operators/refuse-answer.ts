import { askFor, tellingWord } from '../answer-words.ts';
import { answerSites } from '../answers.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'refuse-answer',
  layer: 'correctness',
  summary: 'the agent refuses',
  sites: (trace, { query }) =>
    answerSites(trace, query, (answer) => [
      {
        what: 'a refusal instead of the answer',
        text: "I'm sorry, but I can't help with that.",
        advice: askFor([tellingWord(answer, query.query), tellingWord(answer)]),
      },
    ]),
});
