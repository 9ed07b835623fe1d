import { callNumbers, defineRule } from './rule.ts';

export const rule = defineRule({
  type: 'never_after',
  summary: 'Once `trigger` was called, `forbidden` must not be called any more.',
  fields: {
    trigger: { kind: 'selector', required: true },
    forbidden: { kind: 'selector', required: true },
  },
  isCertain: true,
  subjects: ['forbidden'],
  operands: ({ trigger, forbidden }) => `${trigger.label}->${forbidden.label}`,
  evaluate: ({ trigger, forbidden }, { table }) => {
    const expected = `no ${forbidden.label} after ${trigger.label}`;
    const [at] = table.indices(trigger);
    if (at === undefined)
      return {
        outcome: 'not_exercised',
        spanned: [],
        expected,
        actual: `${trigger.label} was never called`,
      };
    const broken = table.indices(forbidden).filter((i) => i > at);
    const [first] = broken;
    if (first === undefined)
      return {
        outcome: 'held',
        spanned: [at],
        expected,
        actual: `none after ${callNumbers([at])}`,
      };
    return {
      outcome: 'violated',
      spanned: [at, first],
      expected,
      actual: `${forbidden.label} called at ${callNumbers(broken)} after ${trigger.label} at ${callNumbers([at])}`,
      brokenBy: broken,
    };
  },
  breaks: ({ trigger, forbidden }, calls, at) => {
    const since = calls.indices(trigger)[0];
    if (since === undefined || since >= at || !calls.isMeant(forbidden, at)) return undefined;
    return `${forbidden.label} called after ${trigger.label} at ${callNumbers([since])}`;
  },
});
