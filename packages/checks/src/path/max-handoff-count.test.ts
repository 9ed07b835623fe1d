import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './max-handoff-count.ts';

const HANDED = { answer: '', handoffs: [{ from: 'a', to: 'b' }] };
const inPart = { captured: { handoffs: 'partial' } } as const;

describeCheck(check, {
  sample: {
    params: 0,
    keeps: { answer: '', handoffs: [] },
    breaks: { answer: '', handoffs: [{ from: 'Triage', to: 'Billing' }] },
  },
  verdicts: [
    {
      when: 'too many are known already',
      block: { max_handoff_count: 0 },
      run: HANDED,
      ...inPart,
      status: 'warn',
    },
    {
      when: 'there may be more than are known',
      block: { max_handoff_count: 1 },
      run: HANDED,
      ...inPart,
      status: 'skip: not_measured',
    },
  ],
});
