import type { RubricTemplate } from './template.ts';

export const planAdherence: RubricTemplate = {
  id: 'plan_adherence',
  version: '1',
  rule: 'The steps that were taken follow the plan: the plan that the rule below gives, else the one that the agent itself stated. Steps are taken in the order of the plan, none of them is left out, and what is added serves the plan.',
  scale: [
    '1: the steps have nothing to do with the plan, or there is no plan to follow',
    '2: most steps of the plan are missing',
    '3: the plan is followed in the main, with steps missing or out of order',
    '4: the plan is followed, with one detour',
    '5: the plan is followed step by step',
  ],
  threshold: 0.7,
  needsContext: false,
  needs: ['steps'],
};
