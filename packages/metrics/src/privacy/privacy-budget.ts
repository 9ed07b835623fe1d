import { isObject } from '@agentci/lib/data';
import { v } from '@agentci/lib/values';
import type { Step, Trace } from '@agentci/trace';
import { defineMetric, type MetricInput, measured, notMeasured } from '../metric.ts';
import { metricParams } from '../params.ts';

const KEY = 'privacy_epsilon';

const params = () =>
  metricParams({
    total_budget: v.number().min(0).default(10).describe('epsilon that may be spent in a run'),
    warn_threshold: v
      .number()
      .min(0)
      .max(1)
      .default(0.8)
      .describe('share spent at which detail.warning is true'),
    compat: v
      .literal('agentunit')
      .optional()
      .describe('also the running results of AgentUnit, one per trace, in detail.results'),
  });
type Params = ReturnType<ReturnType<typeof params>['parse']>;

export const metric = defineMetric({
  name: 'privacy_budget',
  group: 'privacy',
  layer: 'correctness',
  scope: 'suite',
  needs: ['privacy_epsilon on calls or events'],
  summary: 'share of the differential-privacy budget that the whole run left over',
  params,
  keep: (input) => ({
    trace: input.trace ? slimTrace(input.trace) : undefined,
    params: input.params,
  }),
  evaluateSuite: (inputs) => {
    const [first] = inputs;
    if (first === undefined) return notMeasured('no privacy_epsilon known');
    const { total_budget, warn_threshold, compat } = first.params;
    const all = inputs.flatMap(epsilonsOf);
    const known = all.filter(isEpsilon);
    const unknown = all.length - known.length + inputs.filter(isSilent).length;
    // Smallest first, because a sum of floats must not depend on the order of traces.
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
      traces: inputs.filter(({ trace }) => trace).length,
      unknown: unknown > 0 ? unknown : undefined,
      results: compat === 'agentunit' ? runningResults(inputs, first.params) : undefined,
    };
    if (known.length === 0)
      return notMeasured('no privacy_epsilon known', compat ? { results: detail.results } : {});
    // A sum with an unknown part is unknown, unless the known part already exceeds the budget.
    if (unknown > 0 && !exceeded)
      return notMeasured(`${unknown} steps or traces give no usable privacy_epsilon`, detail);
    return measured(
      total_budget > 0 ? Math.max(0, (total_budget - spent) / total_budget) : 0,
      detail,
    );
  },
});

/**
 * Keeps only the spent budget and its completeness, because this is kept for every run and written
 * by shards.
 */
function slimTrace({ schema, id, source, status, captured, meta, steps }: Trace): Trace {
  const spent = hasReading(meta) ? { [KEY]: meta[KEY] } : {};
  const about = { schema, id, source: { format: source.format }, status, captured };
  return { ...about, agents: [], warnings: [], meta: spent, steps: steps.filter(spends).map(slim) };
}

/** Whether the spent budget is unknown: no trace, or one without its tool calls. */
const isSilent = (input: MetricInput): boolean =>
  !input.trace || (input.trace.captured.toolCalls !== 'full' && epsilonsOf(input).length === 0);

/** AgentUnit's report: the state after each trace in order, counting an unknown epsilon as 0. */
function runningResults(
  inputs: readonly MetricInput[],
  { total_budget, warn_threshold }: Params,
): object[] {
  let spent = 0;
  return inputs.map((input) => {
    const used = epsilonsOf(input)
      .filter(isEpsilon)
      .reduce((sum, epsilon) => sum + epsilon, 0);
    spent += used;
    if (total_budget === 0) return { error: 'ZeroDivisionError' };
    const utilization = spent / total_budget;
    return {
      value: Math.max(0, (total_budget - spent) / total_budget),
      detail: {
        epsilon_used: used,
        total_spent: spent,
        remaining: total_budget - spent,
        utilization,
        budget_exceeded: spent > total_budget,
        warning: utilization >= warn_threshold,
      },
    };
  });
}

const isEpsilon = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** A total for the trace wins over its steps. */
const epsilonsOf = ({ trace }: MetricInput): unknown[] =>
  hasReading(trace?.meta) ? [trace.meta[KEY]] : (trace?.steps ?? []).flatMap(readings);

const hasReading = (place: unknown): place is Readonly<Record<typeof KEY, unknown>> =>
  isObject(place) && Object.hasOwn(place, KEY);

const readings = (step: Step): unknown[] =>
  [step.meta, step.kind === 'event' ? step.data : undefined].flatMap((place) =>
    hasReading(place) ? [place[KEY]] : [],
  );

const spends = (step: Step): boolean => readings(step).length > 0;

/** A step reduced to its epsilon. */
const slim = (step: Step): Step => ({
  kind: 'event',
  name: KEY,
  id: step.id,
  seq: step.seq,
  status: step.status,
  data: { [KEY]: readings(step)[0] },
});
