import { callNumbers, defineRule, sortedUnion } from './rule.ts';

export const rule = defineRule({
  type: 'after',
  summary:
    'Every call of `trigger` must be followed by a call of `then` within `within` calls (default: 1).',
  fields: {
    trigger: { kind: 'selector', required: true },
    // biome-ignore lint/suspicious/noThenProperty: `then` is the rule's word; the object is never awaited.
    then: { kind: 'selector', required: true, wanted: true },
    within: { kind: 'count', default: 1, least: 1 },
  },
  subjects: ['trigger'],
  operands: ({ trigger, then, within }) => `${trigger.label}->${then.label}<=${within}`,
  evaluate: ({ trigger, then, within }, { table, complete }) => {
    const expected = `${then.label} within ${within} ${within === 1 ? 'call' : 'calls'} after every ${trigger.label}`;
    const triggers = table.indices(trigger);
    if (triggers.length === 0)
      return {
        outcome: 'not_exercised',
        spanned: [],
        expected,
        actual: `${trigger.label} was never called`,
      };
    const answers = table.indices(then);
    const last = table.calls.length - 1;
    const missed: number[] = [];
    const open: number[] = [];
    const pairs: number[][] = [];
    let next = 0;
    for (const at of triggers) {
      while (next < answers.length && answers[next]! <= at) next++;
      const answer = answers[next];
      if (answer !== undefined && answer <= at + within) pairs.push([at, answer]);
      else if (!complete && last < at + within) open.push(at);
      else missed.push(at);
    }
    if (missed.length > 0)
      return {
        outcome: 'violated',
        spanned: missed,
        expected,
        actual: `no ${then.label} in time after ${callNumbers(missed)}`,
      };
    // An open obligation does not prove that the rule holds.
    if (open.length > 0)
      return {
        outcome: 'not_exercised',
        spanned: [],
        expected,
        actual: `still open after ${callNumbers(open)}`,
      };
    return {
      outcome: 'held',
      spanned: sortedUnion(pairs),
      expected,
      actual: `so it is for ${callNumbers(triggers)}`,
    };
  },
  open: ({ trigger, then }) => `${then.label} to follow ${trigger.label}`,
});
