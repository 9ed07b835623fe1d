import { callNumbers, defineRule } from './rule.ts';

export const rule = defineRule({
  type: 'sequence',
  summary:
    'These tools must be called in this order once the first of them is; `strict` allows no other call between them.',
  fields: { tools: { kind: 'selectors', required: true }, strict: { kind: 'flag', default: false } },
  inspect: ({ tools }) => (tools.length < 2 ? 'a sequence needs at least two tools' : undefined),
  operands: ({ tools, strict }) => `${tools.map(({ label }) => label).join('->')}${strict ? '!' : ''}`,
  evaluate: ({ tools, strict }, { table, complete }) => {
    const order = tools.map(({ label }) => label).join(', then ');
    const expected = strict ? `${order}, with no other call between` : order;
    const members = tools.map((tool) => new Set(table.indices(tool)));
    const matched: number[] = [];
    for (let i = 0; i < table.calls.length && matched.length < tools.length; i++) {
      const next = matched.length;
      if (members[next]!.has(i)) {
        matched.push(i);
        continue;
      }
      const isLater = members.some((calls, member) => member > next && calls.has(i));
      if (!isLater && !(strict && next > 0)) continue;
      return {
        outcome: 'violated',
        spanned: [...matched, i],
        expected,
        actual: `${table.calls[i]!.name} at ${callNumbers([i])} where ${tools[next]!.label} was expected`,
        brokenBy: [i],
      };
    }
    if (matched.length === tools.length)
      return { outcome: 'held', spanned: matched, expected, actual: `in order at ${callNumbers(matched)}` };
    if (matched.length === 0)
      return { outcome: 'not_exercised', spanned: [], expected, actual: 'none of the tools was called' };
    const missing = tools[matched.length]!.label;
    return complete
      ? { outcome: 'violated', spanned: matched, expected, actual: `the run ended before ${missing}` }
      : { outcome: 'not_exercised', spanned: [], expected, actual: `still open: ${missing} is next` };
  },
});
