import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './any.ts';

describeCheck(check, {
  sample: {
    params: [{ expected_in_answer: ['yes'] }],
    keeps: { answer: 'yes' },
    breaks: { answer: 'sorry' },
  },
  refuses: ['x', 7, true, { expected_in_answer: ['x'] }, null],
});
