import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './not.ts';

describeCheck(check, {
  sample: {
    params: { expected_in_answer: ['sorry'] },
    keeps: { answer: 'yes' },
    breaks: { answer: 'sorry' },
  },
  refuses: ['x', 7, true, [], null],
});
