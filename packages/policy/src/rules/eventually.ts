import { callNumbers, defineRule } from './rule.ts';

export const rule = defineRule({
  type: 'eventually',
  summary: 'The tool must be among the first `within` calls.',
  fields: {
    tool: { kind: 'selector', required: true, wanted: true },
    within: { kind: 'count', required: true, least: 1 },
  },
  subjects: ['tool'],
  operands: ({ tool, within }) => `${tool.label}<=${within}`,
  evaluate: ({ tool, within }, { table, complete }) => {
    const expected = `${tool.label} within the first ${within} ${within === 1 ? 'call' : 'calls'}`;
    const [at] = table.indices(tool);
    if (at !== undefined) {
      const outcome = at < within ? 'held' : 'violated';
      return { outcome, spanned: [at], expected, actual: `${tool.label} is ${callNumbers([at])}` };
    }
    if (!complete && table.calls.length < within)
      return { outcome: 'not_exercised', spanned: [], expected, actual: 'still open' };
    return { outcome: 'violated', spanned: [], expected, actual: `${tool.label} was never called` };
  },
  open: ({ tool, within }) =>
    `${tool.label} within the first ${within} ${within === 1 ? 'call' : 'calls'}`,
});
