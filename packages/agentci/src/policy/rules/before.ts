import type { Selector } from '../selectors.ts';
import { callNumbers, defineRule, foldObligations, labels, type RuleRun, type RuleVerdict } from './rule.ts';

export const rule = defineRule({
  type: 'before',
  summary:
    'The first call of `first` must come before the first call of `then`; each tool of a list `then` is checked separately.',
  fields: {
    first: { kind: 'selector', required: true },
    // biome-ignore lint/suspicious/noThenProperty: `then` is the rule's word; the object is never awaited.
    then: { kind: 'selectors', required: true },
  },
  operands: ({ first, then }) => `${first.label}->${then.map(({ label }) => label).join(',')}`,
  evaluate: ({ first, then }, run) =>
    foldObligations(
      `${first.label} before ${labels(then)}`,
      then.map((one) => ({ of: one.label, verdict: order(first, one, run) })),
    ),
});

function order(first: Selector, then: Selector, { table }: RuleRun): RuleVerdict {
  const expected = `${first.label} before ${then.label}`;
  const [thenAt] = table.indices(then);
  if (thenAt === undefined)
    return { outcome: 'not_exercised', spanned: [], expected, actual: `${then.label} was never called` };
  const [firstAt] = table.indices(first);
  if (firstAt === undefined || firstAt > thenAt) {
    const late = firstAt === undefined ? '' : ` (${first.label} is only ${callNumbers([firstAt])})`;
    return {
      outcome: 'violated',
      spanned: firstAt === undefined ? [thenAt] : [thenAt, firstAt],
      expected,
      actual: `${then.label} called without prior ${first.label}${late}`,
      brokenBy: [thenAt],
    };
  }
  const spanned = firstAt === thenAt ? [firstAt] : [firstAt, thenAt];
  return {
    outcome: 'held',
    spanned,
    expected,
    actual: `${first.label} is ${callNumbers([firstAt])}, ${then.label} ${callNumbers([thenAt])}`,
  };
}
