import { isObject } from '../../kit/object.ts';
import { textsIn } from '../answer-words.ts';
import { answerSites } from '../answers.ts';
import { jsonOf } from '../json-answer.ts';
import { defineOperator } from '../operator.ts';
import { yamlValue } from '../yaml-words.ts';

export const operator = defineOperator({
  name: 'drop-field',
  layer: 'correctness',
  summary: 'an answer in JSON lacks a field',
  sites: (trace) =>
    answerSites(trace, (answer) => {
      const value = jsonOf(answer);
      if (!isObject(value)) return [];
      return Object.keys(value).map((key) => {
        const { [key]: _, ...rest } = value;
        return {
          what: `an answer without \`${key}\``,
          text: JSON.stringify(rest),
          advice: {
            layer: 'correctness' as const,
            key: 'json_schema',
            yaml: `json_schema: {type: object, required: ${yamlValue([key])}}`,
            isAbout: (written: unknown) => isObject(written) && textsIn(written.required).includes(key),
          },
        };
      });
    }),
});
