import { severitySetting } from '../severity.ts';

export const setting = severitySetting(
  'cost',
  'The result of a violation in this block: `warn` (the default here) or `fail`.',
);
