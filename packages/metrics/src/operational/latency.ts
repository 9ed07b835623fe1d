import { totals } from '@agentci/trace';
import { defineMetric, measured, notMeasured } from '../metric.ts';

export const metric = defineMetric({
  name: 'latency',
  group: 'operational',
  layer: 'cost',
  better: 'lower',
  scale: 'raw',
  unit: 'ms',
  needs: ['times in the trace'],
  summary: 'wall time of the run in milliseconds',
  evaluate: ({ trace }) => {
    if (!trace) return notMeasured('latency unknown: there is no trace');
    const { latencyMs } = totals(trace);
    if (!latencyMs.exact) return notMeasured(`latency unknown: ${latencyMs.why}`);
    return measured(latencyMs.value, { latency_ms: latencyMs.value });
  },
});
