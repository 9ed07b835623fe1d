import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './max-total-tokens.ts';

describeCheck(check, {
  sample: {
    params: 10,
    keeps: { answer: '', total_tokens: 10 },
    breaks: { answer: '', total_tokens: 11 },
  },
  verdicts: [
    {
      when: 'what a call used was not recorded',
      block: { max_total_tokens: 10 },
      run: {
        answer: '',
        llm_calls: [{ model: 'm', input_tokens: 3, output_tokens: 2 }, { model: 'm' }],
      },
      status: 'skip: not_measured',
    },
  ],
  refuses: [-1],
});
