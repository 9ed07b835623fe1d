import { amountSites } from '../amounts.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'more-tokens',
  layer: 'cost',
  summary: 'the run takes ten times the tokens',
  sites: (trace) =>
    amountSites(trace, {
      what: 'usage',
      words: 'tokens',
      read: ({ totalTokens }) => totalTokens,
      key: 'max_total_tokens',
      rounded: Math.ceil,
    }),
});
