import { toolPrecision } from '@agentci/metrics';
import { defineToolShare } from '../tool-share.ts';

export const check = defineToolShare({
  key: 'min_tool_precision',
  order: 70,
  summary: 'At least this share of the tools called must be in `expected_tools`.',
  what: 'tool precision',
  failure: {
    why: 'too many other tools were called',
    help: 'remove tools the agent does not need',
  },
  example: 0.5,
  measure: toolPrecision,
  partial: 'open',
});
