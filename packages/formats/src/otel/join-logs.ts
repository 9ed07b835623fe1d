import { defined } from '@agentci/lib/data';
import { mentionsIn } from '../build/mentions.ts';
import { amount, label, pick } from '../build/values.ts';
import { isAdotBody, operationOf, withAdotContent } from './adot-content.ts';
import type { Telemetry } from './read-otlp.ts';
import type { LogRecord, Span } from './span.ts';

/**
 * Joins log records with the spans they name. Those of a missing span become a span, so that a file
 * of logs alone shows the messages. Claude Code's records stand alone.
 */
export function joinLogs({ spans, logs }: Telemetry): Span[] {
  if (logs.length === 0) return [...spans];
  const bySpan = new Map<string, LogRecord[]>();
  const alone: Span[] = [];
  for (const log of logs) {
    if (isOwnEvent(log)) alone.push(ownSpan(log));
    else if (isHint(log)) alone.push(hintSpan(log));
    else if (isContent(log)) {
      const key = `${log.traceId ?? ''} ${log.spanId}`;
      const same = bySpan.get(key);
      if (same === undefined) bySpan.set(key, [log]);
      else same.push(log);
    }
  }
  const joined = spans.map((span) => {
    const key = `${span.traceId ?? ''} ${span.id ?? ''}`;
    const events = bySpan.get(key);
    if (events === undefined) return span;
    bySpan.delete(key);
    return withAdotContent({ ...span, events: [...span.events, ...events] });
  });
  return [...joined, ...[...bySpan.values()].flatMap(spanOfLogs), ...alone];
}

const isOwnEvent = (log: LogRecord): boolean => isClaudeCode(log) || isToolEvent(log);

const isClaudeCode = ({ name, scope, body }: LogRecord): boolean =>
  name.startsWith('claude_code.') ||
  scope.startsWith('com.anthropic.claude_code') ||
  (typeof body === 'string' && body === `claude_code.${name}`);

/** Other programs write down a call that has ended in the same way. */
const isToolEvent = ({ name, attributes }: LogRecord): boolean =>
  /^(?:[\w-]{1,40}\.)?tool_(?:result|call)$/.test(name) && toolIn(attributes) !== undefined;

const toolIn = (attributes: LogRecord['attributes']): string | undefined =>
  label(pick(attributes, 'tool_name', 'function_name'));

/** The calls in a message of an unknown span count, although their owner is unknown. */
const isHint = ({ spanId, name, body }: LogRecord): boolean =>
  spanId === undefined && name.startsWith('gen_ai.') && mentionsIn(body).length > 0;

const hintSpan = ({ name, scope, resource, record, body, traceId }: LogRecord): Span => ({
  name,
  scope,
  attributes: { 'log.body': body },
  resource,
  events: [],
  record,
  traceId,
});

const isContent = ({ spanId, name, body }: LogRecord): boolean =>
  spanId !== undefined && (name.startsWith('gen_ai.') || isAdotBody(body));

/** Whether a record is about an agent, which most log records are not. */
export const isAgentLog = (log: LogRecord): boolean =>
  isOwnEvent(log) || isContent(log) || isHint(log);

/** A record of one event, tied to others by its session, because trace ids are missing. */
function ownSpan(log: LogRecord): Span {
  const duration = amount(log.attributes.duration_ms) ?? 0;
  let name: string;
  if (!isClaudeCode(log)) name = 'claude_code.tool_result';
  else if (log.name.startsWith('claude_code.')) name = log.name;
  else name = `claude_code.${log.name}`;
  const times = log.at === undefined ? {} : { t0: log.at - duration, t1: log.at };
  return {
    name,
    scope: log.scope,
    attributes: isClaudeCode(log)
      ? log.attributes
      : { ...log.attributes, tool_name: toolIn(log.attributes) },
    resource: log.resource,
    events: [],
    record: log.record,
    ...times,
    traceId: log.traceId,
  };
}

function spanOfLogs(logs: readonly LogRecord[]): Span[] {
  const first = logs[0]!;
  const times = logs.flatMap(({ at }) => (at === undefined ? [] : [at]));
  const isMessages = logs.some(({ name }) => name.startsWith('gen_ai.'));
  const operation = isMessages
    ? 'chat'
    : logs.map(operationOf).find((found) => found !== undefined);
  const isGuessable = first.scope.startsWith('openinference.');
  if (operation === undefined && !isGuessable) return [];
  const span: Span = {
    id: first.spanId!,
    name: operation ?? '',
    scope: first.scope,
    attributes: defined({
      'gen_ai.operation.name': operation,
      'gen_ai.system': label(first.attributes['gen_ai.system']),
      'session.id': label(first.attributes['session.id']),
    }),
    resource: first.resource,
    events: logs,
    record: first.record,
    traceId: first.traceId,
    t0: times.length === 0 ? undefined : times[0]!,
    t1: times.length === 0 ? undefined : times.at(-1)!,
  };
  return [withAdotContent(span)];
}
