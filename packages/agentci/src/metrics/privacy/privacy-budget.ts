import { z } from 'zod';
import type { Step } from '../../trace/model.ts';
import { isFields, ownField, stepsOf } from '../input.ts';
import { defineMetric, type MetricInput, measured, notMeasured } from '../metric.ts';

const KEY = 'privacy_epsilon';

export const metric = defineMetric({
  name: 'privacy_budget',
  group: 'privacy',
  layer: 'correctness',
  scope: 'suite',
  needs: ['privacy_epsilon on calls or events'],
  summary: 'share of the differential-privacy budget that the whole run left over',
  params: () =>
    z.strictObject({
      total_budget: z.number().min(0).default(10).describe('epsilon that may be spent in a run'),
      warn_threshold: z.number().min(0).max(1).default(0.8).describe('share spent at which detail.warning is true'),
    }),
  keep: (input) => ({
    ...(input.trace
      ? { trace: { ...input.trace, steps: input.trace.steps.filter((step) => readings(step).length > 0).map(slim) } }
      : {}),
    ...(input.params ? { params: input.params } : {}),
  }),
  evaluateSuite: (inputs) => {
    const { total_budget = 10, warn_threshold = 0.8 } = inputs[0]?.params ?? {};
    const all = inputs.flatMap(epsilonsOf);
    const known = all.filter(isEpsilon);
    const unknown = all.length - known.length;
    // Smallest first: a sum of floats must not depend on the order the traces came in.
    const spent = known.toSorted((a, b) => a - b).reduce((sum, epsilon) => sum + epsilon, 0);
    const exceeded = spent > total_budget;
    const utilization = total_budget > 0 ? spent / total_budget : 1;
    const detail = {
      epsilon_used: spent,
      total_spent: spent,
      remaining: total_budget - spent,
      utilization,
      budget_exceeded: exceeded,
      warning: utilization >= warn_threshold,
      traces: inputs.length,
      ...(unknown > 0 ? { unknown } : {}),
    };
    if (known.length === 0) return notMeasured('no privacy_epsilon known');
    // A sum with an unknown part is unknown, unless the known part already exceeds the budget.
    if (unknown > 0 && !exceeded) return notMeasured(`${unknown} steps give no usable privacy_epsilon`, detail);
    return measured(total_budget > 0 ? Math.max(0, (total_budget - spent) / total_budget) : 0, detail);
  },
});

const isEpsilon = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

const epsilonsOf = (input: MetricInput): unknown[] => stepsOf(input).flatMap(readings);

function readings(step: Step): unknown[] {
  const places = [step.meta, step.kind === 'event' ? step.data : undefined];
  return places.flatMap((place) => (isFields(place) && Object.hasOwn(place, KEY) ? [ownField(place, KEY)] : []));
}

/** A step with nothing but its epsilon. */
const slim = (step: Step): Step => ({
  kind: 'event',
  name: KEY,
  id: step.id,
  seq: step.seq,
  status: step.status,
  data: { [KEY]: readings(step)[0] },
});
