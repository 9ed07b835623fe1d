import { severitySetting } from '../severity.ts';

export const setting = severitySetting(
  'correctness',
  'The result of a violation in this block: `fail` (the default here) or `warn`.',
);
