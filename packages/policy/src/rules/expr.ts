import { definePerCallRule } from './per-call-rule.ts';

export const rule = definePerCallRule({
  type: 'expr',
  summary: 'The CEL expression must be true for every call (of `tool`, if set).',
  fields: { expr: { kind: 'expression', required: true } },
  operands: ({ expr }) => expr.text,
  expected: ({ expr }) => expr.text,
  hits: ({ expr }) => expr.negated,
});
