import type { Selector } from '../selectors.ts';
import {
  callNumbers,
  defineRule,
  foldObligations,
  labels,
  type RuleRun,
  type RuleVerdict,
  sortedUnion,
} from './rule.ts';

export const rule = defineRule({
  type: 'immediately_before',
  summary: 'Every call of `then` must have a call of `first` directly before it.',
  fields: {
    first: { kind: 'selector', required: true },
    // biome-ignore lint/suspicious/noThenProperty: `then` is the rule's word; the object is never awaited.
    then: { kind: 'selectors', required: true },
  },
  operands: ({ first, then }) => `${first.label}->${then.map(({ label }) => label).join(',')}`,
  evaluate: ({ first, then }, run) =>
    foldObligations(
      `${first.label} directly before every ${labels(then)}`,
      then.map((one) => ({ of: one.label, verdict: adjacent(first, one, run) })),
    ),
});

function adjacent(first: Selector, then: Selector, { table }: RuleRun): RuleVerdict {
  const expected = `${first.label} directly before every ${then.label}`;
  const thens = table.indices(then);
  if (thens.length === 0)
    return { outcome: 'not_exercised', spanned: [], expected, actual: `${then.label} was never called` };
  const firsts = new Set(table.indices(first));
  const broken = thens.filter((i) => !firsts.has(i - 1));
  const pairs = (indices: readonly number[]): number[] =>
    sortedUnion([indices.flatMap((i) => (i === 0 ? [i] : [i - 1, i]))]);
  if (broken.length === 0)
    return { outcome: 'held', spanned: pairs(thens), expected, actual: `so it is for ${callNumbers(thens)}` };
  const [at] = broken as [number];
  const found = at === 0 ? 'nothing' : table.calls[at - 1]!.name;
  return {
    outcome: 'violated',
    spanned: pairs(broken),
    expected,
    actual: `${found} came directly before ${then.label} at ${callNumbers(broken)}`,
    brokenBy: broken,
  };
}
