import { severitySetting } from '../severity.ts';

export const setting = severitySetting(
  'correctness',
  'What a violation in this block is: `fail` (the default here) or `warn`.',
);
