import type { Problem } from '@agentci/lib/problems';
import type { ValueSchema } from '@agentci/lib/values';
import type { Evidence, Layer, SkipReason } from '@agentci/results';
import type { Totals, Trace } from '@agentci/trace';

/** What a check may look at besides its own parameters. */
export interface CheckContext {
  readonly trace: Trace;
  /** `totals(trace)`, computed once a query. */
  readonly totals: Totals;
  /** Values of the other keys written in the same layer block, e.g. `expected_tools` for `min_tool_recall`. */
  readonly siblings: Readonly<Record<string, unknown>>;
  /** The saved run to compare with, when one was found. */
  readonly baseline?: { readonly version: string; readonly trace: Trace; readonly totals: Totals };
  /** The query itself, where it is known: its text, its variables, what it expects. */
  readonly query?: AskedQuery | undefined;
  /** What was found out outside of this process, by the item that asked for it. */
  readonly asked?: Answers | undefined;
  /** Evaluates a block inside a check, as combinators do. */
  readonly evaluateParts?:
    | ((block: Readonly<Record<string, unknown>>) => readonly PartOutcome[])
    | undefined;
}

/** What a check may know of the query. */
export interface AskedQuery {
  readonly query: string;
  readonly vars?: Readonly<Record<string, unknown>> | undefined;
  readonly expectedOutput?: string | undefined;
}

/** Outcomes of what checks cannot find out by themselves: a judge's verdict, a program's, an embedding's. */
export type Answers = ReadonlyMap<unknown, CheckOutcome>;

/** Something that a check needs from outside: the engine asks, the check reads the answer under `item`. */
export interface Ask {
  readonly kind: 'code' | 'embedding' | 'rubric';
  readonly item: unknown;
  /** The check that asks, e.g. `llm_judge`. */
  readonly key: string;
}

export type Severity = 'fail' | 'warn';

/** The outcome of a check inside another check. */
export interface PartOutcome {
  /** Its place inside the check, e.g. `[0].max_tool_calls`. */
  readonly at: string;
  /** What its violation would be. */
  readonly severity: Severity;
  readonly seen: CheckOutcome;
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
  /** What the checks inside this one saw. */
  readonly parts?: readonly PartOutcome[] | undefined;
  /** The severity of this outcome, where it is not the check's own. */
  readonly severity?: Severity | undefined;
  /** What counts instead where a violation would only warn: something that could have failed was not known, or broke. */
  readonly graver?: CheckOutcome | undefined;
}

/** The layer a key belongs to; `every`: it may be written in each of them. */
export type CheckLayer = Layer | 'every';

/** Words for the checks of a block, for checks that contain others. */
export type BlockWords = (block: Readonly<Record<string, unknown>>) => string;

/** Why a check fails and what usually helps: its row of `docs/guide/why-did-it-fail.md`. */
export interface CheckFailure {
  readonly why: string;
  readonly help: string;
}

/** One key of a layer block: its schema, its verdict, its words. One file each; see CONTRIBUTING.md. */
export interface Check<P = unknown> {
  readonly layer: CheckLayer;
  /** The spec key. The check's id is `layer.key`. */
  readonly key: string;
  /** The status of a violation; `layer`: as is usual in the layer it is written in. */
  readonly severity: Severity | 'layer';
  /** A rule on tools: `severity:` of the block does not soften it. */
  readonly isFixed?: true;
  readonly summary: string;
  /** What the check wants with these parameters, as reports show it next to what happened. */
  readonly wants?: (params: P, words: BlockWords) => string;
  readonly failure: CheckFailure;
  /** A value that can fail, as `docs/sample_spec.yaml` and the page of the check show it. */
  readonly example: P;
  readonly schema: ValueSchema<P>;
  /** Position among the checks of its layer; ties are broken by key. */
  readonly order: number;
  /** Says what is wrong with parameters that have the right type: checks that cannot fail, patterns that do not compile. */
  readonly inspect?: (params: P, siblings: Readonly<Record<string, unknown>>) => readonly Problem[];
  /** The parameters to use though the key was not written, e.g. `match_mode` when a baseline was found. */
  readonly implied?: (context: CheckContext) => P | undefined;
  readonly evaluate: (params: P, context: CheckContext) => CheckOutcome;
  /** What has to be asked outside before it can be evaluated. */
  readonly asks?: (params: P) => readonly Ask[];
  /** The value is a block of checks, or a list of them. */
  readonly blocks?: 'one' | 'list';
}

/** A key that only tunes another check, e.g. `sequence_metric`; it gives no verdict of its own. */
export interface Setting<P = unknown> {
  readonly layer: CheckLayer;
  readonly key: string;
  readonly summary: string;
  readonly example: P;
  readonly schema: ValueSchema<P>;
  readonly setting: true;
  readonly order: number;
  readonly inspect?: (params: P, siblings: Readonly<Record<string, unknown>>) => readonly Problem[];
}

/** A check whose parameter type is not known here, as in the list of all checks. Parameters come from its own `schema`. */
export interface AnyCheck extends Omit<Check<never>, 'schema' | 'implied' | 'example'> {
  readonly schema: ValueSchema;
  readonly example: unknown;
  readonly implied?: (context: CheckContext) => unknown;
}
export interface AnySetting extends Omit<Setting<never>, 'schema' | 'example'> {
  readonly schema: ValueSchema;
  readonly example: unknown;
}

/** Gives verdicts, unlike a setting. */
export const isCheck = (entry: AnyCheck | AnySetting): entry is AnyCheck => !('setting' in entry);

export const isOfLayer = (entry: { readonly layer: CheckLayer }, layer: Layer): boolean =>
  entry.layer === layer || entry.layer === 'every';

/** Keeps the parameter type between `schema` and `evaluate`. */
export const defineCheck = <P>(check: Check<P>): Check<P> => check;
export const defineSetting = <P>(setting: Omit<Setting<P>, 'setting'>): Setting<P> => ({
  ...setting,
  setting: true,
});

type Rest = Partial<Omit<CheckOutcome, 'outcome' | 'message'>>;

/** Outcomes have one shape, whatever they say: six of them are made for every query and read in one place. */
const seen = (
  outcome: CheckOutcome['outcome'],
  message: string,
  { value, limit, evidence, item, reason, details, parts, severity, graver }: Rest,
): CheckOutcome => ({
  outcome,
  message,
  value,
  limit,
  evidence,
  item,
  reason,
  details,
  parts,
  severity,
  graver,
});

export const held = (message: string, rest: Rest = {}): CheckOutcome => seen('held', message, rest);
export const violated = (message: string, rest: Rest = {}): CheckOutcome =>
  seen('violated', message, rest);
/** The input was not captured. Never a pass. */
export const unmeasured = (message: string, rest: Rest = {}): CheckOutcome =>
  seen('unmeasured', message, rest);
export const skipped = (reason: SkipReason, message: string, rest: Rest = {}): CheckOutcome =>
  seen('skipped', message, { ...rest, reason });
