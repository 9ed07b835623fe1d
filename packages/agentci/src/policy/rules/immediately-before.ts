import { defineOrderRule } from './order-rule.ts';
import { callNumbers, sortedUnion } from './rule.ts';

export const rule = defineOrderRule({
  type: 'immediately_before',
  summary: 'Every call of `then` must have a call of `first` directly before it.',
  expected: (first, then) => `${first} directly before every ${then}`,
  decide: (first, then, { table, thens }) => {
    const firsts = new Set(table.indices(first));
    const broken = thens.filter((i) => !firsts.has(i - 1));
    const pairs = (indices: readonly number[]): number[] =>
      sortedUnion([indices.flatMap((i) => (i === 0 ? [i] : [i - 1, i]))]);
    const [at] = broken;
    if (at === undefined)
      return { outcome: 'held', spanned: pairs(thens), actual: `so it is for ${callNumbers(thens)}` };
    const found = at === 0 ? 'nothing' : table.calls[at - 1]!.name;
    return {
      outcome: 'violated',
      spanned: pairs(broken),
      actual: `${found} came directly before ${then.label} at ${callNumbers(broken)}`,
      brokenBy: broken,
    };
  },
});
