import type { CallLists } from '../call-table.ts';
import type { Selector } from '../selectors.ts';
import { defineRule, foldObligations, labels, type RuleRun, type RuleVerdict } from './rule.ts';

interface OrderRule {
  readonly type: string;
  readonly summary: string;
  /** The expected order, in words. */
  readonly expected: (first: string, then: string) => string;
  /** The verdict on one tool of `then` that was called. */
  readonly decide: (
    first: Selector,
    then: Selector,
    run: RuleRun & { readonly thens: readonly number[] },
  ) => Omit<RuleVerdict, 'expected'>;
  /** The reason why a call violates it, for one tool of `then`. */
  readonly breaks: (
    first: Selector,
    then: Selector,
    calls: CallLists,
    at: number,
  ) => string | undefined;
}

/** Defines a rule about a call of `first` and a later call of each tool in `then`. */
export function defineOrderRule({ type, summary, expected, decide, breaks }: OrderRule) {
  return defineRule({
    type,
    summary,
    fields: {
      first: { kind: 'selector', required: true, wanted: true },
      // biome-ignore lint/suspicious/noThenProperty: `then` is the rule's word; the object is never awaited.
      then: { kind: 'selectors', required: true },
    },
    subjects: ['then'],
    operands: ({ first, then }) => `${first.label}->${then.map(({ label }) => label).join(',')}`,
    evaluate: ({ first, then }, run) =>
      foldObligations(
        expected(first.label, labels(then)),
        then.map((one) => ({ of: one.label, verdict: decideOne(first, one, run) })),
      ),
    breaks: ({ first, then }, calls, at) => {
      const reasons = then.flatMap((one) => breaks(first, one, calls, at) ?? []);
      return reasons.length === 0 ? undefined : reasons.join('; ');
    },
  });

  function decideOne(first: Selector, then: Selector, run: RuleRun): RuleVerdict {
    const words = expected(first.label, then.label);
    const thens = run.table.indices(then);
    if (thens.length === 0)
      return {
        outcome: 'not_exercised',
        spanned: [],
        expected: words,
        actual: `${then.label} was never called`,
      };
    return { ...decide(first, then, { ...run, thens }), expected: words };
  }
}
