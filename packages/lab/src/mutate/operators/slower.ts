import { amountSites } from '../amounts.ts';
import { defineOperator } from '../operator.ts';

export const operator = defineOperator({
  name: 'slower',
  layer: 'cost',
  summary: 'the run takes ten times as long',
  sites: (trace) =>
    amountSites(trace, {
      what: 'time',
      words: 'time',
      read: ({ latencyMs }) => latencyMs,
      key: 'max_latency_ms',
      rounded: Math.ceil,
    }),
});
