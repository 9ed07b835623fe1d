import { callNumbers, defineRule, labels } from './rule.ts';

export const rule = defineRule({
  type: 'allowlist',
  summary: 'Only these tools may be called.',
  fields: { tools: { kind: 'selectors', required: true, wanted: true } },
  isCertain: true,
  inspect: ({ tools }) =>
    tools.some(({ label, args }) => label === '*' && args === undefined)
      ? '"*" allows every tool'
      : undefined,
  subjects: 'scope',
  operands: ({ tools }) => tools.map(({ label }) => label).join(','),
  evaluate: ({ tools, scope }, { table }) => {
    const expected = `only calls of ${labels(tools)}`;
    const others = table.noneOf(tools);
    const outside = scope === undefined ? others : others.filter((i) => table.isMeant(scope, i));
    if (outside.length === 0)
      return { outcome: 'held', spanned: table.all, expected, actual: 'no other was called' };
    const names = [...new Set(outside.map((i) => table.calls[i]!.name))].join(', ');
    return {
      outcome: 'violated',
      spanned: outside,
      expected,
      actual: `${names} called at ${callNumbers(outside)}`,
      brokenBy: outside,
    };
  },
  breaks: ({ tools, scope }, calls, at) =>
    tools.some((tool) => calls.isMeant(tool, at)) ||
    (scope !== undefined && !calls.isMeant(scope, at))
      ? undefined
      : `${calls.calls[at]!.name} is not one of ${labels(tools)}`,
  forbids: ({ tools, scope }, isMeant) => scope === undefined && !tools.some(isMeant),
});
