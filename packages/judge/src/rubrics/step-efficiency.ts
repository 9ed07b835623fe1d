import type { RubricTemplate } from './template.ts';

export const stepEfficiency: RubricTemplate = {
  id: 'step_efficiency',
  version: '1',
  rule: 'The request was met without needless steps: no call repeats what is known already, none has no bearing on the request, and no shorter way is plain to see from the tools that were used.',
  scale: [
    '1: most steps were needless',
    '2: many steps were needless',
    '3: some steps were needless',
    '4: one step could have been left out',
    '5: every step was needed',
  ],
  threshold: 0.6,
  needsContext: false,
  needs: ['steps'],
};
