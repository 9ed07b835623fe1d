import type { RubricTemplate } from './template.ts';

export const factualGrounded: RubricTemplate = {
  id: 'factual_grounded',
  version: '1',
  rule: 'Every factual statement in the answer is supported by the context. What the context does not say is not claimed; where it says nothing, the answer admits it. General knowledge is no support.',
  scale: [
    '1: contradicts the context, or is mostly made up',
    '2: several statements have no support',
    '3: the main point is supported, a detail is not',
    '4: everything of weight is supported; wording goes slightly beyond it',
    '5: every statement is supported',
  ],
  threshold: 0.7,
  needsContext: true,
};
