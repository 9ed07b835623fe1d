import { defineGrounded, shareContained } from './grounding.ts';

export const metric = defineGrounded({
  name: 'faithfulness',
  context: 'context',
  summary:
    'how much of the answer the context supports (lexical: how much of the context the answer repeats)',
  lexical: shareContained,
  model: async (asked) =>
    (await import('./claim-support.ts')).measureClaims(asked, { count: 'supported', verdict: 1 }),
});
