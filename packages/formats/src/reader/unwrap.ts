import type { Trace } from '@agentci/trace';
import { isFields, queryText } from '@agentci/trace';

/** Facts of a wrapper about the trace inside. */
export interface Wrapped {
  readonly value: unknown;
  readonly id?: string;
  readonly query?: string;
}

/**
 * Unwraps the trace of a baseline file (`{schema, version, agent, query, trace}`). Leaves other
 * records alone.
 */
export function unwrap(value: unknown): Wrapped {
  const batch =
    isFields(value) && typeof value.custom_id === 'string' ? batchReply(value) : undefined;
  if (batch !== undefined) return batch;
  if (!isFields(value) || !isFields(value.trace)) return { value };
  const isBaseline =
    typeof value.agent === 'string' && (typeof value.version === 'string' || 'query' in value);
  if (!isBaseline) return { value };
  const { query, query_id } = value;
  return {
    value: value.trace,
    id: typeof query_id === 'string' ? query_id : undefined,
    query: typeof query === 'string' ? query : undefined,
  };
}

/**
 * A line of a batch output from OpenAI (`response.body`) or Anthropic (`result.message`): one
 * reply, named by its request.
 */
function batchReply({
  custom_id,
  response,
  result,
}: Readonly<Record<string, unknown>>): Wrapped | undefined {
  let body: unknown;
  if (isFields(response)) body = response.body;
  else if (isFields(result)) body = result.message;
  else body = undefined;
  return isFields(body)
    ? { value: { request: { messages: [] }, response: body }, id: String(custom_id) }
    : undefined;
}

/** Fills in the wrapper's query if the trace has none. */
export function withTask(trace: Trace, { id, query }: Omit<Wrapped, 'value'>): Trace {
  const addsId = id !== undefined && trace.task?.id === undefined;
  const addsQuery = query !== undefined && queryText(trace) === undefined;
  if (!addsId && !addsQuery) return trace;
  return {
    ...trace,
    task: {
      ...trace.task,
      id: addsId ? id : trace.task?.id,
      input: addsQuery
        ? [{ role: 'user', parts: [{ type: 'text', text: query }] }]
        : trace.task?.input,
    },
  };
}
