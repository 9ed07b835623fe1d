import { defineGrounded } from './grounding.ts';

export const metric = defineGrounded({
  name: 'hallucination_rate',
  better: 'lower',
  context: 'context',
  summary: 'share of what the answer claims that the context does not support (lexical: 0 or 1)',
  hidesContexts: true,
  lexical: (contained) => (contained.every(Boolean) ? 0 : 1),
  model: async (asked) =>
    (await import('./claim-support.ts')).measureClaims(asked, { count: 'unsupported', verdict: 0 }),
});
