import type { RuleObligation, RuleOutcome } from '@agentci/results';
import type { CallLists } from '../call-table.ts';
import type { Condition } from '../condition-type.ts';
import type { Selector } from '../selectors.ts';

/** What the values of a rule's fields become once read. */
interface Kinds {
  readonly selector: Selector;
  /** One selector or a list of them. */
  readonly selectors: readonly Selector[];
  readonly count: number;
  readonly flag: boolean;
  readonly text: string;
  /** An expression, and its opposite. */
  readonly expression: { readonly text: string; readonly negated: Condition };
  /** Whatever the rule itself can read. */
  readonly value: unknown;
}

export interface RuleField {
  readonly kind: keyof Kinds;
  readonly required?: true;
  /** Of selectors: the rule asks for these calls rather than against them. */
  readonly wanted?: true;
  readonly default?: number | boolean;
  /** The smallest count that makes sense. */
  readonly least?: number;
  /** Of kind `value`: what it becomes, or what is wrong with it. */
  readonly read?: (value: unknown, context: FieldContext) => FieldResult;
}

export type FieldResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string; readonly code?: string };

export interface FieldContext {
  /** Reads a file that the policy names. */
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
  /** Of a rule about every call: the calls that `when` and `agents` leave to it. */
  readonly scope?: Selector;
  /** Of a rule that judges each call by itself: the calls that break it. */
  readonly hit?: Selector;
};

/** What a rule sees of a run. */
export interface RuleRun {
  readonly table: CallLists;
  /** The run is finished: what has not happened by now never will. */
  readonly complete: boolean;
}

export interface RuleVerdict {
  readonly outcome: RuleOutcome;
  /** Indices of the calls that decided it. */
  readonly spanned: readonly number[];
  readonly expected: string;
  readonly actual: string;
  /** The calls that broke it, where calls did. */
  readonly brokenBy?: readonly number[];
  readonly obligations?: readonly RuleObligation[];
}

/** One type of sequence rule: its fields, its id and its verdict. One file each. */
export interface Rule<
  F extends Readonly<Record<string, RuleField>> = Readonly<Record<string, RuleField>>,
> {
  readonly type: string;
  readonly summary: string;
  readonly fields: F;
  /** A violation stays one whatever further calls were missed by the recording. */
  readonly isCertain?: true;
  /** The fields whose calls `when` and `agents` are about; `scope` for every call. */
  readonly subjects?: readonly (keyof F & string)[] | 'scope';
  /** With conditions, each call is judged by itself. */
  readonly isPerCall?: true;
  /** What breaks the rule, of one call of `tool`. Each call is then judged by itself. */
  readonly hits?: (values: RuleValues<F>) => Condition;
  /** What is wrong with fields that have the right types, e.g. bounds that every run keeps. */
  readonly inspect?: (values: RuleValues<F>) => string | undefined;
  /** The operands, for the rule's id: `a->b`. */
  readonly operands: (values: RuleValues<F>) => string;
  readonly evaluate: (values: RuleValues<F>, run: RuleRun) => RuleVerdict;
  /**
   * Why the call at this place breaks the rule, by what came before it and nothing later; undefined when it does not. Of
   * `evaluate` on the calls up to there it is the same as being in `brokenBy`, at a price that does not grow with them.
   * Absent where no single call can break the rule.
   */
  readonly breaks?: (values: RuleValues<F>, calls: CallLists, at: number) => string | undefined;
  /** Whether no call of a tool can keep the rule. `isMeant`: whether a selector means the tool, apart from arguments. */
  readonly forbids?: (values: RuleValues<F>, isMeant: (selector: Selector) => boolean) => boolean;
  /** What only the end of the run shows, so that no refusal can prevent it; undefined when there is no such thing. */
  readonly open?: (values: RuleValues<F>) => string | undefined;
}

/** A rule whose fields are not known here, as in the list of all. Its values come from its own `fields`. */
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

/** Keeps the types of the fields between their declaration and the verdict. */
export const defineRule = <const F extends Readonly<Record<string, RuleField>>>(
  rule: Rule<F>,
): Rule<F> => rule;

export const labels = (selectors: readonly Selector[]): string =>
  selectors.map(({ label }) => label).join(', ');

/** `call 3`, `calls 1, 2 and 7`: numbered from 1, as people count. */
export function callNumbers(indices: readonly number[]): string {
  const shown = indices.slice(0, 5).map((i) => String(i + 1));
  if (indices.length > 5) return `calls ${shown.join(', ')} and ${indices.length - 5} more`;
  return shown.length === 1
    ? `call ${shown[0]}`
    : `calls ${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`;
}

export const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);

/** Violated is worst; one obligation that held means that the rule was exercised. */
export function worstOutcome(outcomes: readonly RuleOutcome[]): RuleOutcome {
  if (outcomes.includes('violated')) return 'violated';
  return outcomes.includes('held') ? 'held' : 'not_exercised';
}

/** Folds one verdict per listed tool into that of the rule. */
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
