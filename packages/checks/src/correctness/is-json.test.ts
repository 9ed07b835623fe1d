import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './is-json.ts';

describeCheck(check, {
  sample: { params: true, keeps: { answer: '{"a": [1]}' }, breaks: { answer: '{"a": [1' } },
  verdicts: [
    {
      when: 'a structured answer is JSON already',
      block: { is_json: true },
      run: { answer: [1] },
      status: 'pass',
    },
    {
      when: 'JSON in a fence is text around JSON',
      block: { is_json: true },
      run: { answer: '```json\n[1]\n```' },
      status: 'fail',
    },
    {
      when: 'an empty answer is not JSON',
      block: { is_json: true },
      run: { answer: '' },
      status: 'fail',
    },
  ],
  refuses: ['yes', 1],
});
