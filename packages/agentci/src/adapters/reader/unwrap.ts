import { isFields } from '../../trace/fields.ts';
import type { Trace } from '../../trace/model.ts';
import { queryText } from '../../trace/selectors.ts';

/** What a wrapper says about the trace inside it. */
export interface Wrapped {
  readonly value: unknown;
  readonly id?: string;
  readonly query?: string;
}

/** Takes the trace out of a baseline file (`{schema, version, agent, query, trace}`); other records are left alone. */
export function unwrap(value: unknown): Wrapped {
  if (!isFields(value) || !isFields(value.trace)) return { value };
  const isBaseline = typeof value.agent === 'string' && (typeof value.version === 'string' || 'query' in value);
  if (!isBaseline) return { value };
  const { query, query_id } = value;
  return {
    value: value.trace,
    ...(typeof query_id === 'string' ? { id: query_id } : {}),
    ...(typeof query === 'string' ? { query } : {}),
  };
}

/** Fills in the query a wrapper named, where the trace does not say it itself. */
export function withTask(trace: Trace, { id, query }: Omit<Wrapped, 'value'>): Trace {
  const addsId = id !== undefined && trace.task?.id === undefined;
  const addsQuery = query !== undefined && queryText(trace) === undefined;
  if (!addsId && !addsQuery) return trace;
  return {
    ...trace,
    task: {
      ...trace.task,
      ...(addsId ? { id } : {}),
      ...(addsQuery ? { input: [{ role: 'user', parts: [{ type: 'text', text: query }] }] } : {}),
    },
  };
}
