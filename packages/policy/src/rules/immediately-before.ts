import type { CallLists } from '../call-table.ts';
import type { Selector } from '../selectors.ts';
import { defineOrderRule } from './order-rule.ts';
import { callNumbers, sortedUnion } from './rule.ts';

export const rule = defineOrderRule({
  type: 'immediately_before',
  summary: 'Every call of `then` must have a call of `first` directly before it.',
  expected: (first, then) => `${first} directly before every ${then}`,
  decide: (first, then, { table, thens }) => {
    const broken = thens.filter((i) => breaks(first, then, table, i) !== undefined);
    const pairs = (indices: readonly number[]): number[] =>
      sortedUnion([indices.flatMap((i) => (i === 0 ? [i] : [i - 1, i]))]);
    const [at] = broken;
    if (at === undefined)
      return {
        outcome: 'held',
        spanned: pairs(thens),
        actual: `so it is for ${callNumbers(thens)}`,
      };
    return {
      outcome: 'violated',
      spanned: pairs(broken),
      actual: `${breaks(first, then, table, at)} at ${callNumbers(broken)}`,
      brokenBy: broken,
    };
  },
  breaks,
});

function breaks(first: Selector, then: Selector, calls: CallLists, at: number): string | undefined {
  if (!calls.isMeant(then, at) || (at > 0 && calls.isMeant(first, at - 1))) return undefined;
  return `${at === 0 ? 'nothing' : calls.calls[at - 1]!.name} came directly before ${then.label}`;
}
