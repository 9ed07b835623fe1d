import { UserError } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import { DEFAULT_METRICS } from './default-set.ts';
import { METRICS } from './index.gen.ts';
import { defineMetric, type Metric, type MetricDefinition } from './metric.ts';

export { DEFAULT_METRICS };

const BUILT_IN: ReadonlyMap<string, Metric> = new Map(
  METRICS.map((metric) => [metric.name, metric]),
);

/** Metrics registered by programs. */
const registered = new Map<string, Metric>();

/** Anything that can be registered: a metric, its definition, or a class of one. */
export type MetricLike = Metric | MetricDefinition | (new () => Metric | MetricDefinition);

/**
 * Registers a metric under a name. Refuses a name in use, because two meanings of one name hide a
 * mistake.
 */
export function registerMetric(name: string, metric: MetricLike): Metric {
  if (BUILT_IN.has(name) || registered.has(name)) {
    throw new UserError('METRIC_INVALID', `the metric '${name}' is already registered`, {
      hint: 'Give it another name.',
    });
  }
  const ready = toMetric(name, metric);
  registered.set(name, ready);
  return ready;
}

/** Creates a metric from anything that can be registered, without registering it. */
export function toMetric(name: string, metric: MetricLike): Metric {
  const instance = typeof metric === 'function' ? new metric() : metric;
  if (
    typeof instance !== 'object' ||
    instance === null ||
    typeof instance.evaluate !== 'function'
  ) {
    if (typeof (instance as MetricDefinition | null)?.evaluateSuite !== 'function')
      throw new UserError('METRIC_INVALID', `the metric '${name}' has no evaluate function`, {
        hint: 'Write it with defineMetric({name, evaluate}).',
      });
  }
  // Read one by one, because methods of a class are not own properties.
  const { layer, better, scale, unit, needs, summary, group, scope, params, keep } = instance;
  const facts = { layer, better, scale, unit, needs, summary, group, scope, params, keep };
  const given = Object.fromEntries(
    Object.entries(facts).filter(([, value]) => value !== undefined),
  );
  const definition = {
    ...given,
    name,
    evaluate: instance.evaluate?.bind(instance),
    evaluateSuite: instance.evaluateSuite?.bind(instance),
  };
  return defineMetric(definition as MetricDefinition);
}

export const findMetric = (name: string): Metric | undefined =>
  BUILT_IN.get(name) ?? registered.get(name);

export const metricNames = (): string[] => [...BUILT_IN.keys(), ...registered.keys()];

/**
 * Metrics by name. `{name: parameters}` sets parameters. Default: the default set. Throws for an
 * unknown name.
 */
export function resolveMetrics(
  names?: readonly (string | Metric | Readonly<Record<string, object>>)[] | null,
): Metric[] {
  const asked =
    names === undefined || names === null || names.length === 0 ? DEFAULT_METRICS : names;
  return asked.flatMap((item) => {
    if (typeof item === 'string') return [known(item)];
    if (isMetric(item)) return [item];
    return Object.entries(item).map(([name, params]) => withParams(known(name), params));
  });
}

const isMetric = (item: object): item is Metric =>
  typeof (item as Partial<Metric>).evaluate === 'function';

function known(name: string): Metric {
  const metric = findMetric(name);
  if (metric !== undefined) return metric;
  const near = didYouMean(name, metricNames());
  throw new UserError(
    'OPTION_INVALID',
    `Unknown metric '${name}'${near === undefined ? '' : `; did you mean '${near}'?`}`,
    { hint: 'agentci metrics lists them all.' },
  );
}

function withParams(metric: Metric, params: object): Metric {
  metric.params?.().parse(params);
  const { evaluateSuite } = metric;
  const fixed = { ...params };
  return {
    ...metric,
    evaluate: (input) => metric.evaluate({ ...input, params: { ...fixed, ...input.params } }),
    evaluateSuite: evaluateSuite
      ? (inputs) =>
          evaluateSuite(
            inputs.map((input) => ({ ...input, params: { ...fixed, ...input.params } })),
          )
      : metric.evaluateSuite,
  };
}
