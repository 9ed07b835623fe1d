import { isByName } from '../selectors.ts';
import { callNumbers, defineRule, labels } from './rule.ts';

export const rule = defineRule({
  type: 'blocklist',
  summary: 'None of these tools may be called. `pattern: x` reads as the glob `*x*`.',
  fields: { tools: { kind: 'selectors', required: true } },
  isCertain: true,
  isPerCall: true,
  subjects: ['tools'],
  operands: ({ tools }) => tools.map(({ label }) => label).join(','),
  evaluate: ({ tools }, { table }) => {
    const expected = `no call of ${labels(tools)}`;
    const hits = table.anyOf(tools);
    if (hits.length === 0)
      return { outcome: 'held', spanned: table.all, expected, actual: 'none was called' };
    const names = [...new Set(hits.map((i) => table.calls[i]!.name))].join(', ');
    return {
      outcome: 'violated',
      spanned: hits,
      expected,
      actual: `${names} called at ${callNumbers(hits)}`,
      brokenBy: hits,
    };
  },
  breaks: ({ tools }, calls, at) =>
    tools.some((tool) => calls.isMeant(tool, at))
      ? `${calls.calls[at]!.name} is blocked`
      : undefined,
  forbids: ({ tools }, isMeant) => tools.some((tool) => isByName(tool) && isMeant(tool)),
});
