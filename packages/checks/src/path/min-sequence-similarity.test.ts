import { called, describeCheck } from '@agentci/testing/check-cases';
import { check } from './min-sequence-similarity.ts';

describeCheck(check, {
  sample: {
    params: 0.8,
    keeps: called('a', 'x', 'b'),
    breaks: called('x', 'y'),
    baseline: called('a', 'b'),
  },
  verdicts: [
    {
      when: 'there is no baseline',
      block: { min_sequence_similarity: 0.5 },
      run: ['a'],
      status: 'skip: no_baseline',
    },
  ],
  issues: [{ block: { min_sequence_similarity: 0 }, found: ['warning SPEC_CANNOT_FAIL'] }],
  refuses: [-0.1],
});
