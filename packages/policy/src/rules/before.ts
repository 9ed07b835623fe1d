import type { CallLists } from '../call-table.ts';
import type { Selector } from '../selectors.ts';
import { defineOrderRule } from './order-rule.ts';
import { callNumbers } from './rule.ts';

export const rule = defineOrderRule({
  type: 'before',
  summary:
    'The first call of `first` must come before the first call of `then`. Each tool of a list `then` is checked separately.',
  expected: (first, then) => `${first} before ${then}`,
  decide: (first, then, { table, thens }) => {
    const [thenAt] = thens as readonly [number];
    const [firstAt] = table.indices(first);
    const broken = breaks(first, then, table, thenAt);
    if (broken !== undefined) {
      const late =
        firstAt === undefined ? '' : ` (${first.label} is only ${callNumbers([firstAt])})`;
      return {
        outcome: 'violated',
        spanned: firstAt === undefined ? [thenAt] : [thenAt, firstAt],
        actual: `${broken}${late}`,
        brokenBy: [thenAt],
      };
    }
    return {
      outcome: 'held',
      spanned: firstAt === thenAt ? [thenAt] : [firstAt!, thenAt],
      actual: `${first.label} is ${callNumbers([firstAt!])}, ${then.label} ${callNumbers([thenAt])}`,
    };
  },
  breaks,
});

/** The first call of `then` breaks it where no call of `first` came before; a call may be both. */
function breaks(first: Selector, then: Selector, calls: CallLists, at: number): string | undefined {
  if (calls.indices(then)[0] !== at) return undefined;
  const firstAt = calls.indices(first)[0];
  return firstAt === undefined || firstAt > at
    ? `${then.label} called without prior ${first.label}`
    : undefined;
}
