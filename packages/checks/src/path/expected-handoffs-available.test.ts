import { describeCheck, statusOf, traceOf } from '@agentci/testing/check-cases';
import { totals } from '@agentci/trace';
import { expect, test } from 'vitest';
import { evaluateLayer } from '../evaluate-layer.ts';
import { check } from './expected-handoffs-available.ts';

describeCheck(check, {
  issues: [{ block: { expected_handoffs_available: [] }, found: ['error SPEC_CANNOT_FAIL'] }],
});

test.each([
  { targets: ['Billing', 'Tech', 'More'], level: 'full', status: 'pass' },
  { targets: ['Billing'], level: 'full', status: 'warn' },
  { targets: ['Billing'], level: 'partial', status: 'skip: not_measured' },
  { targets: undefined, level: 'full', status: 'skip: not_measured' },
  { targets: [], level: 'full', status: 'warn' },
] as const)('$targets captured $level: $status', ({ targets, level, status }) => {
  const trace = traceOf({ answer: '', handoffs: [] }, { captured: { agents: level } });
  trace.agents = [
    { id: 'a', name: 'Triage', ...(targets === undefined ? {} : { canHandOffTo: [...targets] }) },
    { id: 'b', name: 'Other' },
  ];
  const block = { expected_handoffs_available: ['Billing', 'Tech'] };
  const result = evaluateLayer('path', block, { trace, totals: totals(trace) });
  expect(statusOf(result, 'expected_handoffs_available')).toBe(status);
});
