import { caseOf, expectedOf } from '../input.ts';
import { defineGrounded, shareContained } from './grounding.ts';

export const metric = defineGrounded({
  name: 'retrieval_quality',
  context: 'context in its ranked order',
  summary:
    'average precision of the retrieved texts (lexical: share of them that the answer repeats)',
  lexical: shareContained,
  model: async ({ input, answer, contexts, detail }) => {
    const { contextPrecision } = await import('./context-precision.ts');
    const { judge } = input;
    return contextPrecision({
      judge,
      detail,
      query: caseOf(input).query,
      contexts,
      answer: expectedOf(input) ?? answer,
    });
  },
});
