import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './max-llm-calls.ts';

describeCheck(check, {
  sample: {
    params: 0,
    keeps: { answer: '', llm_calls: [] },
    breaks: { answer: '', llm_calls: [{ model: 'm' }] },
  },
  verdicts: [
    {
      when: 'more calls than were recorded may have been made',
      block: { max_llm_calls: 2 },
      run: { answer: '', llm_calls: [{ model: 'm' }] },
      captured: { llmCalls: 'partial' },
      status: 'skip: not_measured',
    },
  ],
  refuses: [Number.POSITIVE_INFINITY],
});
