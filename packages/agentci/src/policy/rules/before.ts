import { defineOrderRule } from './order-rule.ts';
import { callNumbers } from './rule.ts';

export const rule = defineOrderRule({
  type: 'before',
  summary:
    'The first call of `first` must come before the first call of `then`; each tool of a list `then` is checked separately.',
  expected: (first, then) => `${first} before ${then}`,
  decide: (first, then, { table, thens }) => {
    const [thenAt] = thens as readonly [number];
    const [firstAt] = table.indices(first);
    if (firstAt === undefined || firstAt > thenAt) {
      const late = firstAt === undefined ? '' : ` (${first.label} is only ${callNumbers([firstAt])})`;
      return {
        outcome: 'violated',
        spanned: firstAt === undefined ? [thenAt] : [thenAt, firstAt],
        actual: `${then.label} called without prior ${first.label}${late}`,
        brokenBy: [thenAt],
      };
    }
    return {
      outcome: 'held',
      spanned: firstAt === thenAt ? [firstAt] : [firstAt, thenAt],
      actual: `${first.label} is ${callNumbers([firstAt])}, ${then.label} ${callNumbers([thenAt])}`,
    };
  },
});
