import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './max-cost-usd.ts';

const HALF_PRICED = { answer: '', llm_calls: [{ model: 'm', cost_usd: 0.5 }, { model: 'm' }] };

describeCheck(check, {
  sample: {
    params: 0.01,
    keeps: { answer: '', cost_usd: 0.01 },
    breaks: { answer: '', cost_usd: 0.011 },
  },
  verdicts: [
    {
      when: 'the known part exceeds it',
      block: { max_cost_usd: 0.4 },
      run: HALF_PRICED,
      status: 'warn',
    },
    {
      when: 'a call has no cost',
      block: { max_cost_usd: 0.6 },
      run: HALF_PRICED,
      status: 'skip: not_measured',
    },
  ],
  refuses: [-1],
});
