import type { Problem } from '../kit/problem.ts';
import type { ValueSchema } from '../kit/value-schema.ts';
import type { Evidence, Layer, SkipReason } from '../results/run-result.ts';
import type { Trace } from '../trace/model.ts';
import type { Totals } from '../trace/totals.ts';

/** What a check may look at besides its own parameters. */
export interface CheckContext {
  readonly trace: Trace;
  /** `totals(trace)`, computed once a query. */
  readonly totals: Totals;
  /** Values of the other keys written in the same layer block, e.g. `expected_tools` for `min_tool_recall`. */
  readonly siblings: Readonly<Record<string, unknown>>;
  /** The saved run to compare with, when one was found. */
  readonly baseline?: { readonly version: string; readonly trace: Trace; readonly totals: Totals };
}

/**
 * What a check saw. The layer turns it into a status: `violated` becomes the check's severity;
 * `unmeasured` becomes `error` where a violation would fail and a skip where it would warn.
 */
export interface CheckOutcome {
  readonly outcome: 'held' | 'violated' | 'unmeasured' | 'skipped';
  /** One sentence with the number and its limit, on pass as on fail. */
  readonly message: string;
  readonly value?: unknown;
  readonly limit?: unknown;
  readonly evidence?: readonly Evidence[] | undefined;
  /** Which item of a list parameter decided it, so that the result points at its line. */
  readonly item?: number | undefined;
  /** Why, when skipped. */
  readonly reason?: SkipReason | undefined;
  /** Merged into the layer's `details` under the seed's keys. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/** One key of a layer block: its schema, its verdict, its one line of documentation. One file each; see CONTRIBUTING.md. */
export interface Check<P = unknown> {
  readonly layer: Layer;
  /** The spec key. The check's id is `layer.key`. */
  readonly key: string;
  /** The status of a violation. */
  readonly severity: 'fail' | 'warn';
  /** A rule on tools: `severity:` of the block does not soften it. */
  readonly isFixed?: true;
  readonly summary: string;
  readonly schema: ValueSchema<P>;
  /** Position among the checks of its layer; ties are broken by key. */
  readonly order: number;
  /** Says what is wrong with parameters that have the right type: checks that cannot fail, patterns that do not compile. */
  readonly inspect?: (params: P, siblings: Readonly<Record<string, unknown>>) => readonly Problem[];
  /** The parameters to use though the key was not written, e.g. `match_mode` when a baseline was found. */
  readonly implied?: (context: CheckContext) => P | undefined;
  readonly evaluate: (params: P, context: CheckContext) => CheckOutcome;
}

/** A key that only tunes another check, e.g. `sequence_metric`; it gives no verdict of its own. */
export interface Setting<P = unknown> {
  readonly layer: Layer;
  readonly key: string;
  readonly summary: string;
  readonly schema: ValueSchema<P>;
  readonly setting: true;
  readonly order: number;
  readonly inspect?: (params: P, siblings: Readonly<Record<string, unknown>>) => readonly Problem[];
}

/** A check whose parameter type is not known here, as in the list of all checks. Parameters come from its own `schema`. */
export interface AnyCheck extends Omit<Check<never>, 'schema' | 'implied'> {
  readonly schema: ValueSchema;
  readonly implied?: (context: CheckContext) => unknown;
}
export interface AnySetting extends Omit<Setting<never>, 'schema'> {
  readonly schema: ValueSchema;
}

/** Gives verdicts, unlike a setting. */
export const isCheck = (entry: AnyCheck | AnySetting): entry is AnyCheck => !('setting' in entry);

/** Keeps the parameter type between `schema` and `evaluate`. */
export const defineCheck = <P>(check: Check<P>): Check<P> => check;
export const defineSetting = <P>(setting: Omit<Setting<P>, 'setting'>): Setting<P> => ({ ...setting, setting: true });

type Rest = Partial<Omit<CheckOutcome, 'outcome' | 'message'>>;

/** Outcomes have one shape, whatever they say: six of them are made for every query and read in one place. */
const seen = (
  outcome: CheckOutcome['outcome'],
  message: string,
  { value, limit, evidence, item, reason, details }: Rest,
): CheckOutcome => ({ outcome, message, value, limit, evidence, item, reason, details });

export const held = (message: string, rest: Rest = {}): CheckOutcome => seen('held', message, rest);
export const violated = (message: string, rest: Rest = {}): CheckOutcome => seen('violated', message, rest);
/** The input was not captured. Never a pass. */
export const unmeasured = (message: string, rest: Rest = {}): CheckOutcome => seen('unmeasured', message, rest);
export const skipped = (reason: SkipReason, message: string, rest: Rest = {}): CheckOutcome =>
  seen('skipped', message, { ...rest, reason });
