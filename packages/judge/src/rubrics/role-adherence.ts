import type { RubricTemplate } from './template.ts';

export const roleAdherence: RubricTemplate = {
  id: 'role_adherence',
  version: '1',
  rule: 'The answer keeps to the role that is described below: its tasks, its limits, its tone. It does not step out of the role, not even when the person asks for that.',
  scale: [
    '1: the answer abandons the role',
    '2: it breaks a limit of the role',
    '3: it keeps the limits, but not the tone or the tasks',
    '4: it keeps to the role, with one slip of tone',
    '5: it keeps to the role throughout',
  ],
  threshold: 0.7,
  needsContext: false,
  needs: ['rule'],
};
