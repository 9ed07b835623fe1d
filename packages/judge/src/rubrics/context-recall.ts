import type { RubricTemplate } from './template.ts';

export const contextRecall: RubricTemplate = {
  id: 'context_recall',
  version: '1',
  rule: 'Judge the context, not the answer: every statement of the expected answer is supported by some passage of the context. The expected answer is the last entry of the context and supports nothing itself.',
  scale: [
    '1: nothing of the expected answer is supported',
    '2: little of it is',
    '3: about half of it is',
    '4: all but a detail is',
    '5: every statement is',
  ],
  threshold: 0.6,
  needsContext: true,
  needs: ['expected'],
};
