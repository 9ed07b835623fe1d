import { countVerdict, isNever, tooMany } from './count-verdict.ts';
import { defineRule } from './rule.ts';

export const rule = defineRule({
  type: 'max_calls',
  summary: 'The tool may be called at most `max` times.',
  fields: {
    tool: { kind: 'selector', required: true },
    max: { kind: 'count', required: true, least: 0 },
  },
  isCertain: true,
  subjects: ['tool'],
  operands: ({ tool, max }) => `${tool.label}<=${max}`,
  evaluate: ({ tool, max }, run) => countVerdict(tool, { max }, run),
  breaks: ({ tool, max }, calls, at) => tooMany(tool, max, calls, at),
  forbids: ({ tool, max }, isMeant) => isNever(tool, max, isMeant),
});
