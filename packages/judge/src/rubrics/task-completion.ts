import type { RubricTemplate } from './template.ts';

export const taskCompletion: RubricTemplate = {
  id: 'task_completion',
  version: '1',
  rule: 'The run did what the person asked for, all of it: the steps taken and the answer together carry out every part of the request. A part that was only promised, or that the steps show to have failed, is not done.',
  scale: [
    '1: nothing of the request was done, or something else was',
    '2: a small part was done',
    '3: the main part was done, another part was not',
    '4: everything was done, with a small flaw',
    '5: everything was done',
  ],
  threshold: 0.7,
  needsContext: false,
  needs: ['steps'],
};
