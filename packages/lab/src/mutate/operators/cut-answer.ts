import { askFor, tellingWord } from '../answer-words.ts';
import { answerSites } from '../answers.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'cut-answer',
  layer: 'correctness',
  summary: 'the answer stops halfway',
  sites: (trace, { query }) =>
    answerSites(trace, query, (answer) => {
      const half = firstHalf(answer);
      const lost = answer.slice(half.length);
      return [
        {
          what: 'an answer that stops halfway',
          text: half,
          advice: askFor([
            tellingWord(lost, `${query.query} ${half}`),
            tellingWord(answer, half),
            lastWords(lost),
          ]),
        },
      ];
    }),
});

/** Up to the last whole word, or within the word if there is only one. */
function firstHalf(answer: string): string {
  const half = answer.slice(0, Math.floor(answer.length / 2)).replace(/[\ud800-\udbff]$/, '');
  const whole = /^[\s\S]*\s/.exec(half)?.[0].trimEnd();
  return whole === undefined || whole === '' || /\s/.test(answer[half.length] ?? '') ? half : whole;
}

/** Up to three whole words at the end. */
const lastWords = (lost: string): string | undefined =>
  /(?<=\s)\S+(?:\s+\S+){0,2}$/.exec(lost.slice(-200).trimEnd())?.[0].replace(/[.,;:!?)]+$/, '');
