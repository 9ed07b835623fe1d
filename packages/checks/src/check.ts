import type { Problem } from '@agentci/lib/problems';
import type { ValueSchema } from '@agentci/lib/values';
import type { Evidence, Layer, SkipReason } from '@agentci/results';
import type { Totals, Trace } from '@agentci/trace';

/** Everything a check may use besides its parameters. */
export interface CheckContext {
  readonly trace: Trace;
  /** `totals(trace)`, computed once per query. */
  readonly totals: Totals;
  /**
   * Values of the other keys in the same layer block, such as `expected_tools` for
   * `min_tool_recall`.
   */
  readonly siblings: Readonly<Record<string, unknown>>;
  /** The baseline to compare with, if one was found. */
  readonly baseline?: { readonly version: string; readonly trace: Trace; readonly totals: Totals };
  /** The query, if known: its text, variables and expectations. */
  readonly query?: AskedQuery | undefined;
  /** Answers to external questions, by the item that asked. */
  readonly asked?: Answers | undefined;
  /** Evaluates a nested block, for combinators. */
  readonly evaluateParts?:
    | ((block: Readonly<Record<string, unknown>>) => readonly PartOutcome[])
    | undefined;
}

/** The parts of a query that a check may read. */
export interface AskedQuery {
  readonly query: string;
  readonly vars?: Readonly<Record<string, unknown>> | undefined;
  readonly expectedOutput?: string | undefined;
}

/** Outcomes from outside of the process: a judge's verdict, a program's, an embedding's. */
export type Answers = ReadonlyMap<unknown, CheckOutcome>;

/** An external question. The run asks it, and the check reads the answer under `item`. */
export interface Ask {
  readonly kind: 'code' | 'embedding' | 'rubric';
  readonly item: unknown;
  /** The check that asks, such as `llm_judge`. */
  readonly key: string;
}

export type Severity = 'fail' | 'warn';

/** The outcome of a nested check. */
export interface PartOutcome {
  /** Its path inside the check, such as `[0].max_tool_calls`. */
  readonly at: string;
  /** The severity of its violation. */
  readonly severity: Severity;
  readonly seen: CheckOutcome;
}

/**
 * The outcome of a check. The layer turns it into a status: `violated` becomes the check's
 * severity; `unmeasured` becomes `error` for checks that fail, and a skip for checks that warn.
 */
export interface CheckOutcome {
  readonly outcome: 'held' | 'violated' | 'unmeasured' | 'skipped';
  /** One sentence with the number and its limit, also on a pass. */
  readonly message: string;
  readonly value?: unknown;
  readonly limit?: unknown;
  readonly evidence?: readonly Evidence[] | undefined;
  /** The deciding item of a list parameter, so that the result points at its line. */
  readonly item?: number | undefined;
  readonly reason?: SkipReason | undefined;
  /** Merged into the layer's `details`. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** Outcomes of nested checks. */
  readonly parts?: readonly PartOutcome[] | undefined;
  /** Overrides the severity of the check. */
  readonly severity?: Severity | undefined;
  /**
   * The outcome to use instead if a violation would only warn: an unknown or broken part that could
   * have failed.
   */
  readonly graver?: CheckOutcome | undefined;
}

/** The layer of a key, or `every` layer. */
export type CheckLayer = Layer | 'every';

/** Words for the checks of a block, for checks that contain others. */
export type BlockWords = (block: Readonly<Record<string, unknown>>) => string;

/** Why a check fails and what usually helps: its row of `docs/guide/why-did-it-fail.md`. */
export interface CheckFailure {
  readonly why: string;
  readonly help: string;
}

/** One key of a layer block: its schema, verdict and words. One file each; see CONTRIBUTING.md. */
export interface Check<P = unknown> {
  readonly layer: CheckLayer;
  /** The spec key. The check's id is `layer.key`. */
  readonly key: string;
  /** The status of a violation. `layer`: the default of the layer it is written in. */
  readonly severity: Severity | 'layer';
  /** A prohibition, which `severity:` of the block does not soften. */
  readonly isFixed?: true;
  readonly summary: string;
  /** The expectation in words, which reports show next to the outcome. */
  readonly wants?: (params: P, words: BlockWords) => string;
  readonly failure: CheckFailure;
  /** A value that can fail, as `docs/sample_spec.yaml` and the page of the check show it. */
  readonly example: P;
  readonly schema: ValueSchema<P>;
  /** Position in its layer. Ties are broken by key. */
  readonly order: number;
  /** Finds problems in parameters of the right type: checks that cannot fail, invalid patterns. */
  readonly inspect?: (params: P, siblings: Readonly<Record<string, unknown>>) => readonly Problem[];
  /** Parameters to use if the key is absent, such as `match_mode` if a baseline was found. */
  readonly implied?: (context: CheckContext) => P | undefined;
  readonly evaluate: (params: P, context: CheckContext) => CheckOutcome;
  /** External questions to answer before evaluation. */
  readonly asks?: (params: P) => readonly Ask[];
  /** The value is a block of checks, or a list of them. */
  readonly blocks?: 'one' | 'list';
}

/** A key that only tunes another check, such as `sequence_metric`, and gives no verdict. */
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

/** A check with an erased parameter type, as in the list of all checks. Its `schema` validates the parameters. */
export interface AnyCheck extends Omit<Check<never>, 'schema' | 'implied' | 'example'> {
  readonly schema: ValueSchema;
  readonly example: unknown;
  readonly implied?: (context: CheckContext) => unknown;
}
export interface AnySetting extends Omit<Setting<never>, 'schema' | 'example'> {
  readonly schema: ValueSchema;
  readonly example: unknown;
}

/** Whether the entry gives verdicts, unlike a setting. */
export const isCheck = (entry: AnyCheck | AnySetting): entry is AnyCheck => !('setting' in entry);

export const isOfLayer = (entry: { readonly layer: CheckLayer }, layer: Layer): boolean =>
  entry.layer === layer || entry.layer === 'every';

/** Ties the parameter type of `schema` and `evaluate` together. */
export const defineCheck = <P>(check: Check<P>): Check<P> => check;
export const defineSetting = <P>(setting: Omit<Setting<P>, 'setting'>): Setting<P> => ({
  ...setting,
  setting: true,
});

type Rest = Partial<Omit<CheckOutcome, 'outcome' | 'message'>>;

/** All outcomes have one object shape, because they are created in the hot loop. */
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
