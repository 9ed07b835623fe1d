import type { RubricTemplate } from './template.ts';

export const contextPrecision: RubricTemplate = {
  id: 'context_precision',
  version: '1',
  rule: 'Judge the context, not the answer: the passages that help to answer the question come first, and passages that have no bearing on it are few. A useful passage behind useless ones counts less.',
  scale: [
    '1: no passage helps',
    '2: few help, and they come late',
    '3: about half help, or they come after useless ones',
    '4: nearly all help, and the best come first',
    '5: all help, the best first',
  ],
  threshold: 0.6,
  needsContext: true,
};
