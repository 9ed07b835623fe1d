import { callNumbers, defineRule, labels } from './rule.ts';

export const rule = defineRule({
  type: 'allowlist',
  summary: 'Only these tools may be called.',
  fields: { tools: { kind: 'selectors', required: true } },
  isCertain: true,
  inspect: ({ tools }) =>
    tools.some(({ label, args }) => label === '*' && args === undefined) ? '"*" allows every tool' : undefined,
  operands: ({ tools }) => tools.map(({ label }) => label).join(','),
  evaluate: ({ tools }, { table }) => {
    const expected = `only calls of ${labels(tools)}`;
    const outside = table.noneOf(tools);
    if (outside.length === 0) return { outcome: 'held', spanned: table.all, expected, actual: 'no other was called' };
    const names = [...new Set(outside.map((i) => table.calls[i]!.name))].join(', ');
    return {
      outcome: 'violated',
      spanned: outside,
      expected,
      actual: `${names} called at ${callNumbers(outside)}`,
      brokenBy: outside,
    };
  },
  breaks: ({ tools }, calls, at) =>
    tools.some((tool) => calls.isMeant(tool, at))
      ? undefined
      : `${calls.calls[at]!.name} is not one of ${labels(tools)}`,
  forbids: ({ tools }, isMeant) => !tools.some(isMeant),
});
