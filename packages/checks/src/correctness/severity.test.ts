import { describeCheck } from '@agentci/testing/check-cases';
import { setting } from './severity.ts';

describeCheck(setting, {
  issues: [{ block: { severity: 'warn' }, found: [] }],
  refuses: ['error', 'FAIL', true, 1],
});
