import { severitySetting } from '../severity.ts';

export const setting = severitySetting(
  'path',
  'The result of a violation in this block: `warn` (the default here) or `fail`. Forbidden tools and rules always fail.',
);
