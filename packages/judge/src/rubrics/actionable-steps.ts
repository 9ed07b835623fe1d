import type { RubricTemplate } from './template.ts';

export const actionableSteps: RubricTemplate = {
  id: 'actionable_steps',
  version: '1',
  rule: 'The answer gives steps that the person who asked can follow as they stand: in the right order, concrete (names, commands, places), complete from start to result.',
  scale: [
    '1: no steps, or steps that cannot be followed',
    '2: vague advice; the reader must find the steps',
    '3: steps with a gap or out of order',
    '4: complete steps, one of them not concrete enough',
    '5: complete, ordered, concrete steps',
  ],
  threshold: 0.6,
  needsContext: false,
};
