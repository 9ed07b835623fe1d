import { called, describeCheck } from '@agentci/testing/check-cases';
import { check } from './max-loops.ts';

describeCheck(check, {
  sample: { params: 0, keeps: called('a', 'b', 'a'), breaks: called('a', 'a') },
  verdicts: [
    { when: '0 is allowed', block: { max_loops: 0 }, run: ['a', 'a'], status: 'warn' },
    {
      when: 'A B A B is not a loop',
      block: { max_loops: 0 },
      run: ['a', 'b', 'a', 'b'],
      status: 'pass',
    },
  ],
  inPart: [{ block: { max_loops: 0 }, run: ['a', 'a'], status: 'skip: not_measured' }],
  refuses: [-1],
});
