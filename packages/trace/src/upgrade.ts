import { isFields } from './fields.ts';
import { TRACE_SCHEMA } from './model.ts';
import type { TraceIssue } from './trace-error.ts';

const PREFIX = 'agentci.trace/';

/** The newest version that this program reads. Raising it needs a step `N → N + 1` in `LADDER`. */
const CURRENT_VERSION = Number(TRACE_SCHEMA.slice(PREFIX.length));

/** `LADDER[n]` turns a trace of version n into one of version n + 1. */
const LADDER: Readonly<
  Record<number, (trace: Readonly<Record<string, unknown>>) => Record<string, unknown>>
> = {};

/** Whether a record claims to be an AgentCI trace, of any version. */
export const isNativeTrace = (value: unknown): boolean =>
  isFields(value) && typeof value.schema === 'string' && value.schema.startsWith(PREFIX);

/** Upgrades a stored trace to the current version. Refuses versions from a newer program. */
export function upgradeTrace(
  value: unknown,
):
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issue: TraceIssue } {
  if (!isFields(value) || typeof value.schema !== 'string' || !value.schema.startsWith(PREFIX))
    return refusal(`"schema" must be "${TRACE_SCHEMA}"`);
  const name = value.schema;
  if (name === TRACE_SCHEMA) return { ok: true, value };
  const version = /^\d{1,6}$/.test(name.slice(PREFIX.length))
    ? Number(name.slice(PREFIX.length))
    : 0;
  if (version > CURRENT_VERSION) {
    return refusal(
      `the trace has schema "${PREFIX}${version}"; this version of AgentCI reads up to "${TRACE_SCHEMA}": update AgentCI, or record the trace again with this version`,
    );
  }
  let upgraded = value;
  for (let v = version; v < CURRENT_VERSION; v++) {
    const rung = LADDER[v];
    if (rung === undefined) {
      return refusal(
        `${JSON.stringify(name.slice(0, 64))} is not a trace version; the current one is "${TRACE_SCHEMA}"`,
      );
    }
    upgraded = rung(upgraded);
  }
  return { ok: true, value: upgraded };
}

const refusal = (message: string): { readonly ok: false; readonly issue: TraceIssue } => ({
  ok: false,
  issue: { code: 'TRACE_VERSION', message, path: 'schema' },
});
