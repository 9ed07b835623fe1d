import { askFor, wordsAlone } from '../answer-words.ts';
import { answerSites } from '../answers.ts';
import { defineOperator } from '../operator.ts';

const VERBS = /\b(?:is|are|was|were|can|could|will|would|has|have|does|do|did|should|must|may)\b/i;

export const operator = defineOperator({
  name: 'negate-answer',
  layer: 'correctness',
  summary: 'the answer says the opposite',
  sites: (trace, { query }) =>
    answerSites(trace, query, (answer) => {
      const match = VERBS.exec(answer);
      if (match === null) return [];
      const [verb] = match;
      const after = answer.slice(match.index + verb.length);
      const negation = /^(?: not\b|n't\b)/i.exec(after);
      const rest = negation === null ? after : after.slice(negation[0].length);
      const text = `${answer.slice(0, match.index)}${verb}${negation === null ? ' not' : ''}${rest}`;
      // The original wording, so that a check can require it: the verb and the two words after it.
      const phrase = /^\S+(?:\s+\S+){0,2}/
        .exec(answer.slice(match.index))![0]
        .replace(/[.,;:!?)]+$/, '');
      return [
        {
          what: 'an answer that says the opposite',
          text,
          advice: askFor([phrase], wordsAlone(phrase.split(/\s+/, 2).join(' '))),
        },
      ];
    }),
});
