import { severitySetting } from '../severity.ts';

export const setting = severitySetting(
  'cost',
  'What a violation in this block is: `warn` (the default here) or `fail`.',
);
