import { toolRecall } from '@agentci/metrics';
import { defineToolShare } from '../tool-share.ts';

export const check = defineToolShare({
  key: 'min_tool_recall',
  order: 60,
  summary: 'At least this share of `expected_tools` must be called.',
  what: 'tool recall',
  failure: {
    why: 'too few of the expected tools were called',
    help: 'lower the bound or fix the routing',
  },
  example: 0.5,
  measure: toolRecall,
  partial: 'rising',
});
