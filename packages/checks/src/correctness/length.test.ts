import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './length.ts';

describeCheck(check, {
  sample: { params: { max: 5 }, keeps: { answer: 'short' }, breaks: { answer: 'longer' } },
  verdicts: [
    {
      when: 'words',
      block: { length: { min: 2, max: 3, unit: 'words' } },
      run: { answer: ' a  b\nc ' },
      status: 'pass',
    },
    {
      when: 'too few words',
      block: { length: { min: 4, unit: 'words' } },
      run: { answer: 'a b c' },
      status: 'fail',
    },
    {
      when: 'lines',
      block: { length: { max: 2, unit: 'lines' } },
      run: { answer: 'a\r\nb\n' },
      status: 'pass',
    },
    {
      when: 'one line more',
      block: { length: { max: 2, unit: 'lines' } },
      run: { answer: 'a\n\nb' },
      status: 'fail',
    },
    {
      when: 'a character outside the basic plane is one',
      block: { length: { max: 1 } },
      run: { answer: '😀' },
      status: 'pass',
    },
    {
      when: 'an empty answer has no length',
      block: { length: { min: 1 } },
      run: { answer: '' },
      status: 'fail',
    },
  ],
  issues: [
    { block: { length: { min: 3, max: 2 } }, found: ['error SPEC_CONTRADICTION min'] },
    { block: { length: { min: 0 } }, found: ['error SPEC_CANNOT_FAIL min'] },
    { block: { length: { max: 0 } }, found: [] },
  ],
  refuses: [{}, { unit: 'words' }, { max: -1 }, { max: 1.5 }, { max: 1, unit: 'pages' }, 7],
});
