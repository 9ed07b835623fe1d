import { type Fields, isFields, isNativeTrace, parseSimple, SIMPLE_KEYS } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { problemWith } from '../../problem.ts';

/** The simple form: an answer, its tool calls and its totals, for people and small scripts. */
export const adapter: Adapter = {
  format: 'simple',
  summary: 'the simple form: {query, answer, tool_calls, …}, or a bare text answer',
  unit: 'record',
  detect: (sample) => (sample.length === 0 ? 0 : Math.min(...sample.map(likeness))),
  read: (records) => records.map(readSimple),
};

/** Keys about what happened. The others (`id`, `metadata`, `model` …) are common to all formats. */
const TELLING = ['answer', 'final_answer', 'tool_calls', 'llm_calls'];
const SHARED_WITH_AGENTUNIT = ['interactions', 'handoffs', 'conflicts', 'agent_roles'];

function likeness(value: unknown): number {
  if (typeof value === 'string') return 0.6;
  if (!isFields(value) || isNativeTrace(value) || 'events' in value) return 0;
  if (hasForeignCalls(value.tool_calls) && !('answer' in value) && !('final_answer' in value))
    return 0.1;
  if (isConversation(value.turns)) return 0.9;
  const keys = Object.keys(value).slice(0, 100);
  const share = keys.filter((key) => SIMPLE_KEYS.has(key)).length / Math.max(keys.length, 1);
  if (TELLING.some((key) => key in value)) return isPart(value) ? 0.1 : 0.5 + 0.45 * share;
  if (SHARED_WITH_AGENTUNIT.some((key) => key in value))
    return 'query' in value ? 0.5 + 0.45 * share : 0.3;
  return typeof value.query === 'string' ? 0.8 * share : 0;
}

/** A message or an event with a list of calls is a part of a run, not a run. */
const isPart = (value: Fields): boolean =>
  ['role', 'type', 'event', 'content'].some((key) => key in value) &&
  !['query', 'answer', 'final_answer'].some((key) => key in value);

/** `turns: [{user, answer, …}]`. */
const isConversation = (turns: unknown): boolean =>
  Array.isArray(turns) &&
  turns.length > 0 &&
  turns.every((turn) => isFields(turn) && typeof turn.user === 'string');

/** Chat Completions writes `tool_calls: [{type, function: {name}}]`: the same key, another form. */
const hasForeignCalls = (calls: unknown): boolean =>
  Array.isArray(calls) &&
  isFields(calls[0]) &&
  calls[0].name === undefined &&
  isFields(calls[0].function);

export function readSimple(record: RawRecord): AdapterItem {
  if (isNativeTrace(record.value)) {
    return problemWith(record, {
      code: 'TRACE_UNKNOWN_FORMAT',
      message: 'the record is an AgentCI trace, not the simple form',
    });
  }
  const parsed = parseSimple(record.value, record);
  return parsed.ok ? parsed : problemWith(record, parsed.issue);
}
