import { amountSites } from '../amounts.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'costs-more',
  layer: 'cost',
  summary: 'the run costs ten times as much',
  sites: (trace) =>
    amountSites(trace, {
      what: 'cost',
      words: 'cost',
      read: ({ costUsd }) => costUsd,
      key: 'max_cost_usd',
      rounded: (limit) => Number(limit.toPrecision(2)),
    }),
});
