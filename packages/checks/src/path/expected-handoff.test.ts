import { describeCheck } from '@agentci/testing/check-cases';
import { check } from './expected-handoff.ts';

const HANDED = { answer: '', handoffs: [{ from: 'a', to: 'b' }] };
const inPart = { captured: { handoffs: 'partial' } } as const;

describeCheck(check, {
  sample: {
    params: 'Billing',
    keeps: { answer: '', handoffs: [{ from: 'Triage', to: 'Billing' }] },
    breaks: { answer: '', handoffs: [] },
  },
  verdicts: [
    {
      when: 'seen among handoffs known in part',
      block: { expected_handoff: 'b' },
      run: HANDED,
      ...inPart,
      status: 'pass',
    },
    {
      when: 'written in another way',
      block: { expected_handoff: 'Orders agent' },
      run: { answer: '', handoffs: [{ from: 'Triage', to: 'Orders_agent' }] },
      status: 'pass',
    },
    {
      when: 'not seen among handoffs known in part',
      block: { expected_handoff: 'c' },
      run: HANDED,
      ...inPart,
      status: 'skip: not_measured',
    },
  ],
  issues: [{ block: { expected_handoff: ' ' }, found: ['error SPEC_EMPTY'] }],
});
