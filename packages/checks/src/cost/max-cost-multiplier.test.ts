import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './max-cost-multiplier.ts';

const HALF_PRICED = { answer: '', llm_calls: [{ model: 'm', cost_usd: 0.5 }, { model: 'm' }] };
const cost = (cost_usd: number) => ({ answer: '', cost_usd });
const block = { max_cost_multiplier: 3 };

describeCheck(check, {
  sample: { params: 3, keeps: cost(0.6), breaks: cost(0.61), baseline: cost(0.2) },
  verdicts: [
    { when: 'no baseline', block, run: cost(1), status: 'skip: no_baseline' },
    {
      when: 'a baseline that cost nothing',
      block,
      baseline: cost(0),
      run: cost(1),
      status: 'skip: no_baseline',
    },
    {
      when: 'a baseline of unknown cost',
      block,
      baseline: { answer: '' },
      run: cost(1),
      status: 'skip: no_baseline',
    },
    {
      when: 'an unknown cost now',
      block,
      baseline: cost(1),
      run: { answer: '' },
      status: 'skip: not_measured',
    },
    { when: 'exactly the limit', block, baseline: cost(0.2), run: cost(0.6), status: 'pass' },
    { when: 'just above the limit', block, baseline: cost(0.2), run: cost(0.601), status: 'warn' },
    {
      when: 'the known part exceeds it',
      block: { max_cost_multiplier: 4 },
      baseline: cost(0.1),
      run: HALF_PRICED,
      status: 'warn',
    },
    {
      when: 'a call has no cost',
      block: { max_cost_multiplier: 6 },
      baseline: cost(0.1),
      run: HALF_PRICED,
      status: 'skip: not_measured',
    },
  ],
  refuses: [0],
});
