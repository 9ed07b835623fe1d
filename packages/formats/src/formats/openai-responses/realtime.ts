import { type Fields, isFields } from '@agentci/trace';
import { Dialogue } from '../../build/dialogue.ts';
import type { Draft, GapNote } from '../../build/draft.ts';
import { MESSAGES_RECORD } from '../../build/records.ts';
import { itemTurns } from '../../build/response-items.ts';
import { usageOf } from '../../build/token-usage.ts';
import { fields, label, objects, text } from '../../build/values.ts';
import { merged } from '../../otel/messages.ts';

const OWN =
  /^(?:session\.(?:created|update|updated)|conversation\.(?:created|item\.[a-z_.]{1,80})|input_audio_buffer\.\w{1,80})$/;

/** Events that only the Realtime API has. */
export const isRealtimeEvent = (value: unknown): boolean =>
  isFields(value) && typeof value.type === 'string' && OWN.test(value.type);

/** A log of a realtime session: its responses end with `response.done`. */
export const isRealtime = (values: readonly unknown[]): boolean =>
  values.some((value) => isRealtimeEvent(value) || isDone(value));

const isDone = (value: unknown): boolean =>
  isFields(value) && value.type === 'response.done' && isFields(value.response);

/**
 * A realtime session as one run: messages arrive as conversation items, and each reply completely
 * in its last event. Speech is in the transcripts.
 */
export function realtimeDraft(values: readonly unknown[], format: string): Draft {
  const dialogue = new Dialogue();
  const events = values.filter(isFields);
  const heard = new Set<string>();
  const replied = new Set<string>();
  const transcripts = transcriptsIn(events);
  // Client events are returned with an id.
  const isHeard = events.some(
    ({ type }) => type === 'conversation.item.created' || type === 'conversation.item.added',
  )
    ? /^conversation\.item\.(?:created|added|done)$/
    : /^conversation\.item\.create$/;
  for (const event of events) {
    if (isDone(event)) {
      const response = fields(event.response);
      replied.add(label(response.id) ?? '');
      for (const { id } of objects(response.output)) heard.add(label(id) ?? '');
      const turns = itemTurns(objects(response.output).map((item) => spoken(item, transcripts)));
      dialogue.reply(merged(turns) ?? { role: 'assistant', parts: [] }, {
        provider: 'openai',
        model: label(response.model),
        responseId: label(response.id),
        usage: usageOf(response.usage),
        finish: finishOf(response),
        status: response.status === 'failed' ? ('error' as const) : undefined,
      });
      continue;
    }
    if (!isHeard.test(String(event.type))) continue;
    const item = fields(event.item);
    const id = label(item.id) ?? label(item.call_id) ?? '';
    const isOurs =
      item.role === 'assistant' || item.type === 'function_call' || item.type === 'mcp_call';
    if (isOurs || (id !== '' && heard.has(id))) continue;
    heard.add(id);
    dialogue.hear(...itemTurns([spoken(item, transcripts)]));
  }
  const model = label(fields(events.find(({ type }) => type === 'session.created')?.session).model);
  return {
    source: { format, dialects: ['realtime'] },
    steps: dialogue.steps,
    turns: dialogue.turns,
    records: MESSAGES_RECORD,
    gaps: openResponses(events, replied),
    meta: { model },
  };
}

/** Responses that began and have no end. */
function openResponses(events: readonly Fields[], replied: ReadonlySet<string>): GapNote[] {
  const begun = events.flatMap(
    (event) => label(fields(event.response).id) ?? label(event.response_id) ?? [],
  );
  const open = begun.find((id) => !replied.has(id));
  return open === undefined
    ? []
    : [{ gap: 'absentChildren', detail: `the end of ${open.slice(0, 80)}` }];
}

function finishOf(response: Fields): 'stop' | 'tool_calls' | 'length' | undefined {
  const isCall = objects(response.output).some(({ type }) => type === 'function_call');
  if (isCall) return 'tool_calls';
  if (response.status === 'incomplete') return 'length';
  return response.status === 'completed' ? 'stop' : undefined;
}

/** The user's speech is transcribed later, in a separate event. */
function transcriptsIn(events: readonly Fields[]): ReadonlyMap<string, string> {
  return new Map(
    events.flatMap((event) => {
      const id = label(event.item_id);
      const said = text(event.transcript);
      return id === undefined || said === undefined ? [] : [[id, said] as const];
    }),
  );
}

/** Audio as its transcript. */
function spoken(item: Fields, transcripts: ReadonlyMap<string, string>): Fields {
  if (!Array.isArray(item.content)) return item;
  const content = objects(item.content).map((part) => {
    const said =
      text(part.transcript) ??
      (/audio/.test(String(part.type)) ? transcripts.get(label(item.id) ?? '') : undefined);
    return said === undefined
      ? part
      : { type: item.role === 'assistant' ? 'output_text' : 'input_text', text: said };
  });
  return { ...item, content };
}
