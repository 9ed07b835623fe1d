import { isObject } from '@agentci/lib/data';
import { textsIn } from '../answer-words.ts';
import { answerSites } from '../answers.ts';
import { jsonOf } from '../json-answer.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'drop-field',
  layer: 'correctness',
  summary: 'an answer in JSON lacks a field',
  sites: (trace, { query }) =>
    answerSites(trace, query, (answer) => {
      const value = jsonOf(answer);
      if (!isObject(value)) return [];
      return Object.keys(value).map((key) => {
        const { [key]: _, ...rest } = value;
        return {
          what: `an answer without \`${key}\``,
          text: JSON.stringify(rest),
          advice: [
            {
              layer: 'correctness' as const,
              key: 'json_schema',
              value: { type: 'object', required: [key] },
              isAbout: (written: unknown) =>
                isObject(written) && textsIn(written.required).includes(key),
            },
          ],
        };
      });
    }),
});
