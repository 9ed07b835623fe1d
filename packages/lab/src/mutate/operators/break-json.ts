import { answerSites } from '../answers.ts';
import { jsonOf } from '../json-answer.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'break-json',
  layer: 'correctness',
  summary: 'an answer in JSON is not JSON any more',
  sites: (trace, { query }) =>
    answerSites(trace, query, (answer) =>
      jsonOf(answer) === undefined
        ? []
        : [
            {
              what: 'an answer that is no longer JSON',
              text: `Here you are: ${answer}`,
              advice: [{ layer: 'correctness', key: 'is_json', value: true }],
            },
          ],
    ),
});
