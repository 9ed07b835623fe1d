import { askForAlone, withNeighbours, wordsAlone } from '../answer-words.ts';
import { answerSites } from '../answers.ts';
import { defineOperator } from '../operator.ts';

const MAX_NUMBERS = 3;

export const operator = defineOperator({
  name: 'change-number',
  layer: 'correctness',
  summary: 'a number in the answer is wrong',
  sites: (trace, { query }) =>
    answerSites(trace, query, (answer) =>
      [...answer.matchAll(/(?<![\w.])\d+(?:[.,]\d+)*(?!\w)/g)]
        .slice(0, MAX_NUMBERS)
        .map((match) => {
          const [number] = match;
          const wrong = raised(number);
          const text =
            answer.slice(0, match.index) + wrong + answer.slice(match.index + number.length);
          return {
            what: `the answer saying ${wrong} instead of ${number}`,
            text,
            advice: askForAlone(
              [number, ...withNeighbours(answer, match.index, match.index + number.length)],
              wordsAlone(number),
            ),
          };
        }),
    ),
});

/** Increments the first digit, so that the difference is never just rounding. */
const raised = (number: string): string => `${(Number(number[0]) % 9) + 1}${number.slice(1)}`;
