import { describeCheck } from '../../../test/support/check-cases.ts';
import { setting } from './severity.ts';

describeCheck(setting, {
  issues: [{ block: { severity: 'warn' }, found: [] }],
  refuses: ['error', 'FAIL', true, 1],
});
