import { type Fields, isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import { conversation } from '../../build/conversation.ts';
import type { Draft } from '../../build/draft.ts';
import { best } from '../../build/likeness.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { isResponseItem, itemTurns } from '../../build/response-items.ts';
import { usageOf } from '../../build/token-usage.ts';
import { label, objects } from '../../build/values.ts';
import { merged } from '../../otel/messages.ts';
import { isRunItem, runItems, stateDraft } from './openai-agents-items.ts';
import { isTraceRecord, spanItems } from './openai-agents-spans.ts';

const FORMAT = 'openai-agents-sdk';

/**
 * OpenAI Agents SDK, JavaScript and Python: `newItems`, `history`, `rawResponses`, run state, and
 * tracing exports. Items do not show whether a tool failed; only spans do.
 */
export const adapter: Adapter = {
  format: FORMAT,
  summary: 'OpenAI Agents SDK: run items, history, run state, tracing spans',
  unit: (sample) => (sample.length > 0 && sample.every(isState) ? 'record' : 'file'),
  detect: (sample) => best(sample, likeness),
  read,
};

function likeness(value: unknown): number {
  if (isState(value) || isRunItem(value) || isTraceRecord(value) || exportBody(value) !== undefined)
    return 0.97;
  if (isRawResponse(value)) return 0.95;
  if (isFields(value) && 'callId' in value && isResponseItem(value)) return 0.97;
  // Messages and reasoning occur in a history, but alone they could be Responses API items.
  return isFields(value) &&
    (value.type === 'message' || value.type === 'reasoning') &&
    !('stop_reason' in value)
    ? 0.4
    : 0;
}

const isState = (value: unknown): boolean =>
  isFields(value) && typeof value.$schemaVersion === 'string';

const isRawResponse = (value: unknown): boolean =>
  isFields(value) &&
  isFields(value.usage) &&
  Array.isArray(value.output) &&
  ('responseId' in value || 'response_id' in value) &&
  !('object' in value);

/** The body the SDK posts: `{data: [records]}`. */
const exportBody = (value: unknown): readonly unknown[] | undefined =>
  isFields(value) &&
  Array.isArray(value.data) &&
  value.data.length > 0 &&
  value.data.every(isTraceRecord)
    ? value.data
    : undefined;

function read(records: readonly RawRecord[]): AdapterItem[] {
  const [first] = records;
  if (first === undefined) return [];
  if (isState(first.value))
    return records.flatMap((record) =>
      tryBuild(record, () =>
        isFields(record.value) ? stateDraft(record.value, FORMAT) : undefined,
      ),
    );
  if (isTraceRecord(first.value) || exportBody(first.value) !== undefined)
    return spanItems(
      records.flatMap((record) =>
        (exportBody(record.value) ?? [record.value])
          .filter(isFields)
          .map((value) => ({ record, value })),
      ),
      FORMAT,
    );
  const values = records.map(({ value }) => value).filter(isFields);
  if (values.some(isRunItem))
    return tryBuild(first, () => ({
      source: { format: FORMAT },
      records: MESSAGES_RECORD,
      ...runItems(values),
    }));
  return tryBuild(first, () =>
    values.some(isRawResponse) ? responsesDraft(values) : historyDraft(values),
  );
}

function historyDraft(items: readonly Fields[]): Draft {
  const turns = itemTurns(items);
  // A transfer tool's name is a spelling of the agent's name, and its result has the real one.
  const names = turns.flatMap(({ name, result }) =>
    name?.startsWith('transfer_to_') === true && isFields(result)
      ? (label(result.assistant) ?? [])
      : [],
  );
  return {
    source: { format: FORMAT },
    ...conversation(turns),
    agents: [...new Set(names)].map((name) => ({ id: name, name })),
    records: MESSAGES_RECORD,
  };
}

/** Model replies call by call, without results and prompts. */
const responsesDraft = (responses: readonly Fields[]): Draft => ({
  source: { format: FORMAT },
  steps: responses.map((response) => ({
    kind: 'llm' as const,
    output: merged(itemTurns(objects(response.output))),
    usage: usageOf(response.usage),
    model: label(response.model),
  })),
  records: { toolCalls: 'full', toolArgs: 'full', llmCalls: 'full' },
});
