import type { RubricTemplate } from './template.ts';

export const promptAlignment: RubricTemplate = {
  id: 'prompt_alignment',
  version: '1',
  rule: 'The answer follows every one of the instructions listed below: what it must do, what it must not do, and the form it must have. Each instruction counts by itself.',
  scale: [
    '1: follows none of them',
    '2: breaks several',
    '3: breaks one that matters',
    '4: follows all, one of them loosely',
    '5: follows all of them',
  ],
  threshold: 0.7,
  needsContext: false,
  needs: ['rule'],
};
