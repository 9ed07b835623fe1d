import { v } from '@agentci/lib/values';
import { mean } from '../input.ts';
import { defineMetric, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';
import { meanLoad, peakMemoryGb } from './readings.ts';

export const metric = defineMetric({
  name: 'resource_utilization',
  group: 'sustainability',
  layer: 'cost',
  needs: ['readings of CPU, memory or GPU'],
  summary: 'how near the use of CPU, memory and GPU is to its targets',
  params: () =>
    metricParams({
      target_cpu_percent: v.number().min(0).default(80),
      target_memory_gb: v.number().min(0).default(4),
      target_gpu_percent: v.number().min(0).default(80),
    }),
  evaluate: ({ trace, params }) => {
    const cpu = meanLoad(trace, 'cpuPct');
    const memory = peakMemoryGb(trace);
    const gpu = meanLoad(trace, 'gpuPct');
    const detail: Record<string, { readonly score: number }> = {};
    if (cpu !== undefined) detail.cpu = load(cpu, params.target_cpu_percent);
    if (memory !== undefined) {
      const target = params.target_memory_gb;
      const used = { used_gb: memory, target_gb: target };
      detail.memory = { ...used, score: nearness(memory, target) };
    }
    if (gpu !== undefined) detail.gpu = load(gpu, params.target_gpu_percent);
    const scores = Object.values(detail).map(({ score }) => score);
    return scores.length === 0
      ? notMeasured('no resource readings')
      : measured(mean(scores), detail);
  },
});

const load = (used: number, target: number) => ({
  used_percent: used,
  target_percent: target,
  score: nearness(used, target),
});

/** 1 from half the target to 1.2 times the target, falling off on both sides. */
function nearness(used: number, target: number): number {
  if (target === 0) return used === 0 ? 1 : 0;
  const ratio = used / target;
  if (ratio > 1.2) return Math.max(0, 1 - (ratio - 1));
  return ratio < 0.5 ? ratio / 0.5 : 1;
}
