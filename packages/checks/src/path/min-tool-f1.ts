import { toolF1 } from '@agentci/metrics';
import { defineToolShare } from '../tool-share.ts';

export const check = defineToolShare({
  key: 'min_tool_f1',
  order: 80,
  summary: 'The harmonic mean of tool recall and precision must be at least this.',
  what: 'tool F1',
  failure: {
    why: 'recall and precision together are too low',
    help: 'see the two numbers in the report',
  },
  example: 0.5,
  measure: toolF1,
  partial: 'open',
});
