import type { Trace } from '@agentci/trace';

const CODE = 'RECORDS_UNREADABLE';

/** The trace of a run next to which records could not be read: calls may be missing. */
export function withHole(trace: Trace): Trace {
  if (trace.warnings.some(({ code }) => code === CODE)) return trace;
  const captured = { ...trace.captured };
  for (const key of ['toolCalls', 'llmCalls', 'handoffs'] as const)
    if (captured[key] === 'full') captured[key] = 'partial';
  const message = 'records of this file could not be read: calls may be missing';
  return { ...trace, captured, warnings: [...trace.warnings, { code: CODE, message }] };
}
