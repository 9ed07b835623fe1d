import type { RuleObligation, RuleOutcome } from '@agentci/results';
import type { CallLists } from '../call-table.ts';
import type { Condition } from '../condition-type.ts';
import type { Selector } from '../selectors.ts';

/** The parsed types of a rule's fields. */
interface Kinds {
  readonly selector: Selector;
  /** One or more selectors. */
  readonly selectors: readonly Selector[];
  readonly count: number;
  readonly flag: boolean;
  readonly text: string;
  /** An expression and its negation. */
  readonly expression: { readonly text: string; readonly negated: Condition };
  /** A value with a custom reader. */
  readonly value: unknown;
}

export interface RuleField {
  readonly kind: keyof Kinds;
  readonly required?: true;
  /** For selectors: the rule requires these calls instead of forbidding them. */
  readonly wanted?: true;
  readonly default?: number | boolean;
  /** The smallest useful count. */
  readonly least?: number;
  /** For kind `value`: the parsed value, or an error. */
  readonly read?: (value: unknown, context: FieldContext) => FieldResult;
}

export type FieldResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly code?: string };

export interface FieldContext {
  /** Reads a file named in the policy. */
  readonly readFile?: (
    path: string,
  ) =>
    | { readonly ok: true; readonly text: string }
    | { readonly ok: false; readonly message: string };
}

type FieldValue<F extends RuleField> = F extends { required: true } | { default: number | boolean }
  ? Kinds[F['kind']]
  : Kinds[F['kind']] | undefined;

export type RuleValues<F extends Readonly<Record<string, RuleField>>> = {
  readonly [K in keyof F]: FieldValue<F[K]>;
} & {
  /** For a rule on every call: the calls that match `when` and `agents`. */
  readonly scope?: Selector;
  /** For a rule that judges each call separately: the violating calls. */
  readonly hit?: Selector;
};

/** The input of a rule. */
export interface RuleRun {
  readonly table: CallLists;
  /** The run is finished, so open obligations fail. */
  readonly complete: boolean;
}

export interface RuleVerdict {
  readonly outcome: RuleOutcome;
  /** Indices of the decisive calls. */
  readonly spanned: readonly number[];
  readonly expected: string;
  readonly actual: string;
  /** Indices of violating calls, if any. */
  readonly brokenBy?: readonly number[];
  readonly obligations?: readonly RuleObligation[];
}

/** A type of sequence rule with its fields, id and verdict. Each has its own file. */
export interface Rule<
  F extends Readonly<Record<string, RuleField>> = Readonly<Record<string, RuleField>>,
> {
  readonly type: string;
  readonly summary: string;
  readonly fields: F;
  /** Violations hold even if the recording missed calls. */
  readonly isCertain?: true;
  /** Fields that `when` and `agents` apply to. `scope` for every call. */
  readonly subjects?: readonly (keyof F & string)[] | 'scope';
  /** With conditions, each call is judged separately. */
  readonly isPerCall?: true;
  /** The violation condition for a call of `tool`. Each call is then judged separately. */
  readonly hits?: (values: RuleValues<F>) => Condition;
  /** Validates well-typed fields, e.g. rejects bounds that every run meets. */
  readonly inspect?: (values: RuleValues<F>) => string | undefined;
  /** The operands in the rule's id: `a->b`. */
  readonly operands: (values: RuleValues<F>) => string;
  readonly evaluate: (values: RuleValues<F>, run: RuleRun) => RuleVerdict;
  /**
   * The reason why the call at this index violates the rule, based only on earlier calls. Undefined
   * if it does not. Same as `brokenBy` of `evaluate` on the calls so far, at a cost independent of
   * their number. Absent if no single call can violate the rule.
   */
  readonly breaks?: (values: RuleValues<F>, calls: CallLists, at: number) => string | undefined;
  /**
   * Whether every call of a tool violates the rule. `isMeant`: whether a selector matches the tool,
   * ignoring arguments.
   */
  readonly forbids?: (values: RuleValues<F>, isMeant: (selector: Selector) => boolean) => boolean;
  /**
   * A requirement that only the end of the run decides, so no refusal can enforce it. Undefined if
   * there is none.
   */
  readonly open?: (values: RuleValues<F>) => string | undefined;
}

/** A rule with unknown fields, as in the list of all rules. Its values come from its `fields`. */
export interface AnyRule
  extends Omit<
    Rule,
    'subjects' | 'hits' | 'inspect' | 'operands' | 'evaluate' | 'breaks' | 'forbids' | 'open'
  > {
  readonly subjects?: readonly string[] | 'scope';
  readonly hits?: (values: never) => Condition;
  readonly inspect?: (values: never) => string | undefined;
  readonly operands: (values: never) => string;
  readonly evaluate: (values: never, run: RuleRun) => RuleVerdict;
  readonly breaks?: (values: never, calls: CallLists, at: number) => string | undefined;
  readonly forbids?: (values: never, isMeant: (selector: Selector) => boolean) => boolean;
  readonly open?: (values: never) => string | undefined;
}

/** Links the types of the fields to those of the verdict. */
export const defineRule = <const F extends Readonly<Record<string, RuleField>>>(
  rule: Rule<F>,
): Rule<F> => rule;

export const labels = (selectors: readonly Selector[]): string =>
  selectors.map(({ label }) => label).join(', ');

/** `call 3`, `calls 1, 2 and 7`: counted from 1. */
export function callNumbers(indices: readonly number[]): string {
  const shown = indices.slice(0, 5).map((i) => String(i + 1));
  if (indices.length > 5) return `calls ${shown.join(', ')} and ${indices.length - 5} more`;
  return shown.length === 1
    ? `call ${shown[0]}`
    : `calls ${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

export const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** Violated is worst. A single met obligation means that the rule was exercised. */
export function worstOutcome(outcomes: readonly RuleOutcome[]): RuleOutcome {
  if (outcomes.includes('violated')) return 'violated';
  return outcomes.includes('held') ? 'held' : 'not_exercised';
}

/** Combines the verdicts per tool into the verdict of the rule. */
export function foldObligations(
  expected: string,
  verdicts: readonly { readonly of: string; readonly verdict: RuleVerdict }[],
): RuleVerdict {
  const [only] = verdicts;
  if (verdicts.length === 1 && only !== undefined) return only.verdict;
  const outcome = worstOutcome(verdicts.map(({ verdict }) => verdict.outcome));
  const telling = verdicts
    .filter(({ verdict }) => verdict.outcome === outcome)
    .map(({ verdict }) => verdict);
  return {
    outcome,
    spanned: sortedUnion(telling.map(({ spanned }) => spanned)),
    expected,
    actual: telling.map(({ actual }) => actual).join('; '),
    brokenBy: sortedUnion(telling.map(({ brokenBy = [] }) => brokenBy)),
    obligations: verdicts.map(({ of, verdict }) => ({
      of,
      outcome: verdict.outcome,
      spanned: [...verdict.spanned],
      reason: verdict.actual,
    })),
  };
}

export const sortedUnion = (lists: readonly (readonly number[])[]): number[] =>
  [...new Set(lists.flat())].sort((a, b) => a - b);
