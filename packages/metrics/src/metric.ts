import type { Judge } from '@agentci/judge';
import type { Layer } from '@agentci/results';
import type { PriceLookup, Trace } from '@agentci/trace';
import type { LocalModels } from './local-models.ts';

/** The case that a metric measures against, with the spec's field names. */
export interface MetricCase {
  readonly id?: string;
  readonly query?: string;
  readonly expected_output?: unknown;
  readonly context?: readonly string[] | null;
  readonly metadata?: Readonly<Record<string, unknown>> | null;
  /** The goal of a user who is played by a model. */
  readonly goal?: string;
  readonly goal_tool?: string;
}

/**
 * The input of a metric. `outcome` is the agent's return value, if it is known apart from the
 * trace.
 */
export interface MetricInput {
  readonly case?: MetricCase | null;
  readonly trace?: Trace | null;
  readonly outcome?: unknown;
  /** Parameters of the metric. Its defaults fill in missing ones. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** The judge for metrics that ask a model. */
  readonly judge?: Judge;
  /** Prices for model calls with tokens but no dollars. */
  readonly price?: PriceLookup;
  /** Local embeddings, if a model is installed. */
  readonly models?: LocalModels;
}

/**
 * The result of a metric. `value: null` always comes with `detail.reason`, because "nothing to
 * measure" is neither 0 nor 1.
 */
export interface MetricOutput {
  readonly name: string;
  readonly value: number | null;
  readonly detail: Readonly<Record<string, unknown>>;
  /** The measured event provably never happened, so a bound is missed rather than undecided. */
  readonly missed?: true;
}

export type Found = Omit<MetricOutput, 'name'>;

/**
 * Validates parameters: a zod schema of any version, or anything of its shape, because users'
 * metrics bring their own zod.
 */
export interface ParamsSchema<P extends object> {
  readonly parse: (value: unknown) => P;
  readonly safeParse: (value: unknown) =>
    | { readonly success: true; readonly data: P }
    | {
        readonly success: false;
        readonly error: {
          readonly issues: readonly {
            readonly path: readonly PropertyKey[];
            readonly message: string;
          }[];
        };
      };
}

export interface MetricFacts {
  readonly name: string;
  /** The layer in which bounds are checked. */
  readonly layer: Layer;
  readonly better: 'higher' | 'lower';
  /**
   * `fraction` is 0 to 1. `raw` numbers (dollars, tokens) have a unit and cannot be averaged with
   * others.
   */
  readonly scale: 'fraction' | 'raw';
  readonly unit: string;
  /** Required inputs, in words. */
  readonly needs: readonly string[];
  readonly summary: string;
  readonly group: string;
  /** `suite`: one value over all traces of a run. */
  readonly scope: 'query' | 'suite';
  /** Parameters with defaults. Lazy, so that a spec without metrics does not pay for them. */
  readonly params?: () => ParamsSchema<object>;
}

/** A number computed from a trace. One file each; see docs/metrics. */
export interface Metric extends MetricFacts {
  /** Returns a promise only if it asks a model or loads a library. */
  readonly evaluate: (input: MetricInput) => MetricOutput | Promise<MetricOutput>;
  /** One value for all traces of a run, in any order. */
  readonly evaluateSuite?: (inputs: readonly MetricInput[]) => MetricOutput | Promise<MetricOutput>;
  /**
   * The part of an input that `evaluateSuite` needs, because a run may have more traces than fit
   * into memory.
   */
  readonly keep?: (input: MetricInput) => MetricInput;
}

type With<P> = Omit<MetricInput, 'params'> & { readonly params: P };

/** The definition of a metric. Everything but `name` and one of the two functions has a default. */
export interface MetricDefinition<P extends object = Readonly<Record<string, unknown>>>
  extends Partial<Omit<MetricFacts, 'name' | 'params'>> {
  readonly name: string;
  readonly params?: () => ParamsSchema<P>;
  readonly evaluate?: (input: With<P>) => Found | Promise<Found>;
  readonly evaluateSuite?: (inputs: readonly With<P>[]) => Found | Promise<Found>;
  readonly keep?: (input: MetricInput) => MetricInput;
}

/**
 * Creates a metric: fills in defaults, validates parameters, and turns NaN and infinite values into
 * "not measured".
 */
export function defineMetric<P extends object = Readonly<Record<string, unknown>>>(
  definition: MetricDefinition<P>,
): Metric {
  const { name, evaluate, evaluateSuite } = definition;
  const schema = definition.params && once(definition.params);
  let standard: P | undefined;
  const readParams = (given: Readonly<Record<string, unknown>> | undefined): P => {
    if (schema === undefined) return (given ?? {}) as P;
    if (given !== undefined) return schema().parse(given);
    standard ??= schema().parse({});
    return standard;
  };
  const prepare = (input: MetricInput): With<P> => ({
    ...input,
    params: readParams(input.params),
  });
  const finish = (found: Found | Promise<Found>): MetricOutput | Promise<MetricOutput> =>
    isPromise(found) ? found.then((late) => checked(name, late)) : checked(name, found);
  const overAll =
    evaluateSuite &&
    ((inputs: readonly MetricInput[]) => finish(evaluateSuite(inputs.map(prepare))));
  return {
    name,
    layer: definition.layer ?? 'correctness',
    better: definition.better ?? 'higher',
    scale: definition.scale ?? 'fraction',
    unit: definition.unit ?? (definition.scale === 'raw' ? '' : '0 to 1'),
    needs: definition.needs ?? [],
    summary: definition.summary ?? '',
    group: definition.group ?? 'custom',
    scope: definition.scope ?? (evaluate === undefined ? 'suite' : 'query'),
    params: schema === undefined ? undefined : (schema as () => ParamsSchema<object>),
    evaluate: evaluate
      ? (input) => finish(evaluate(prepare(input)))
      : (input) =>
          overAll?.([input]) ?? checked(name, notMeasured('the metric has no evaluate function')),
    evaluateSuite: overAll,
    keep: definition.keep,
  };
}

export const measured = (value: number, detail: Readonly<Record<string, unknown>> = {}): Found => ({
  value,
  detail,
});

/** Nothing to measure, with the reason. Never 0 or 1. */
export const notMeasured = (
  reason: string,
  detail: Readonly<Record<string, unknown>> = {},
): Found => ({
  value: null,
  detail: { ...detail, reason },
});

/** The measured event never happened: there is no number, and no bound holds. */
export const missed = (reason: string, detail: Readonly<Record<string, unknown>> = {}): Found => ({
  ...notMeasured(reason, detail),
  missed: true,
});

function checked(name: string, found: unknown): MetricOutput {
  const {
    value,
    detail,
    missed: isMissed,
  } = (typeof found === 'object' && found !== null ? found : {}) as Partial<Found>;
  const known = typeof detail === 'object' && detail !== null ? detail : {};
  if (typeof value === 'number' && Number.isFinite(value)) return { name, value, detail: known };
  const reason =
    known.reason ?? (value === null ? 'the metric gave no reason' : 'the metric gave no number');
  return {
    name,
    value: null,
    detail: { ...known, reason },
    missed: isMissed === true ? true : undefined,
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const isPromise = (value: unknown): value is Promise<never> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
