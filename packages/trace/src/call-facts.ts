import type { ToolStep, Trace } from './model.ts';

/** A call as expressions and code see it. Fields that were not captured are absent. */
export interface CallFacts {
  readonly name: string;
  readonly args?: unknown;
  readonly result?: unknown;
  readonly error?: string | null;
  readonly agent?: string | null;
  readonly latency_ms?: number;
  /** Start time. */
  readonly at_ms?: number;
}

/** A call with the field names of the simple form. */
export function callFacts(step: ToolStep, trace: Pick<Trace, 'agents'>): CallFacts {
  const { name, args, result, t0, t1, meta } = step;
  const latency = t0 !== undefined && t1 !== undefined ? t1 - t0 : meta?.durationMs;
  const agent = trace.agents.find(({ id }) => id === step.agent)?.name ?? step.agent;
  return {
    name,
    args,
    result,
    error: errorOf(step),
    agent: agent ?? (trace.agents.length === 0 ? undefined : null),
    latency_ms: typeof latency === 'number' ? latency : undefined,
    at_ms: t0,
  };
}

/** Null if the call succeeded, undefined if unknown. */
function errorOf({ status, error }: ToolStep): string | null | undefined {
  if (status === 'error' || error !== undefined) return error?.message ?? error?.type ?? 'error';
  return status === 'ok' ? null : undefined;
}
