import { validateTrace } from '../../../trace/schema.ts';
import { isNativeTrace, upgradeTrace } from '../../../trace/upgrade.ts';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { problemWith } from '../../problem.ts';

/** AgentCI's own traces, as stored by runs and baselines. */
export const adapter: Adapter = {
  format: 'agentci',
  summary: 'AgentCI traces (agentci.trace/1)',
  unit: 'record',
  detect: (sample) => (sample.length > 0 && sample.every(isNativeTrace) ? 1 : 0),
  read: (records) => records.map(readOne),
};

function readOne(record: RawRecord): AdapterItem {
  const upgraded = upgradeTrace(record.value);
  if (!upgraded.ok) return problemWith(record, upgraded.issue);
  const checked = validateTrace(upgraded.value);
  if (checked.ok) return { ok: true, trace: checked.trace };
  const [first, ...rest] = checked.issues;
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  return problemWith(record, { code: first!.code, message: `${first!.message}${more}` });
}
