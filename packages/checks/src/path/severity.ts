import { severitySetting } from '../severity.ts';

export const setting = severitySetting(
  'path',
  'What a violation in this block is: `warn` (the default here) or `fail`; forbidden tools and rules always fail.',
);
