import { toolRecall } from '@agentci/metrics';
import { defineToolShare } from '../tool-share.ts';

export const check = defineToolShare({
  key: 'min_tool_recall',
  order: 60,
  summary: 'At least this share of `expected_tools` must be called.',
  what: 'tool recall',
  measure: toolRecall,
  partial: 'rising',
});
