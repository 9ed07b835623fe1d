import type { Step, ToolStep, Trace } from '@agentci/trace';
import { isNativeTrace, splitToolName, upgradeTrace, validateTrace } from '@agentci/trace';
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
  if (checked.ok) return { ok: true, trace: withBareNames(checked.trace) };
  const [first, ...rest] = checked.issues;
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  return problemWith(record, { code: first!.code, message: `${first!.message}${more}` });
}

/** Our own traces have plain names, but hand-written ones may not. */
function withBareNames(trace: Trace): Trace {
  const isWritten = (step: Step): step is ToolStep =>
    step.kind === 'tool' &&
    step.rawName === undefined &&
    splitToolName(step.name).name !== step.name;
  if (!trace.steps.some(isWritten)) return trace;
  const steps = trace.steps.map((step) => {
    if (!isWritten(step)) return step;
    const { name, server } = splitToolName(step.name);
    return { ...step, name, rawName: step.name, server: server ?? step.server };
  });
  return { ...trace, steps };
}
