import type { RubricTemplate } from './template.ts';

export const contextRelevance: RubricTemplate = {
  id: 'context_relevance',
  version: '1',
  rule: 'Judge the context, not the answer: what the passages say is about the question. Passages on other matters, and long stretches that add nothing, count against it.',
  scale: [
    '1: nothing in it is about the question',
    '2: little of it is',
    '3: about half of it is',
    '4: nearly all of it is',
    '5: all of it is',
  ],
  threshold: 0.6,
  needsContext: true,
};
