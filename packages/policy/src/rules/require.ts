import { callNumbers, defineRule } from './rule.ts';

export const rule = defineRule({
  type: 'require',
  summary: 'The tool must be called at least once.',
  fields: { tool: { kind: 'selector', required: true, wanted: true } },
  subjects: ['tool'],
  operands: ({ tool }) => tool.label,
  // Decides unfinished runs too: a requirement still open at the end of a log was not met.
  evaluate: ({ tool }, { table }) => {
    const expected = `${tool.label} to be called`;
    const [first] = table.indices(tool);
    if (first === undefined)
      return {
        outcome: 'violated',
        spanned: [],
        expected,
        actual: `${tool.label} was never called`,
      };
    return {
      outcome: 'held',
      spanned: [first],
      expected,
      actual: `${tool.label} is ${callNumbers([first])}`,
    };
  },
  open: ({ tool }) => `${tool.label} to be called`,
});
