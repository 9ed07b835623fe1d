import type { Fields } from '../../../trace/fields.ts';
import { fields, objects, text } from '../../build/values.ts';

/** A streamed reply of either version as the reply it adds up to. */
export function joinStream(events: readonly Fields[]): { readonly reply: Fields; readonly isCutOff: boolean } {
  const end = events.findLast(({ event_type }) => event_type === 'stream-end');
  if (end !== undefined)
    return { reply: { ...fields(end.response), finish_reason: end.finish_reason }, isCutOff: false };
  if (events.some(({ event_type }) => typeof event_type === 'string'))
    return { reply: oldReply(events), isCutOff: true };
  return joinMessage(events);
}

/** Version 1 says everything again at the end; without it, what came so far. */
const oldReply = (events: readonly Fields[]): Fields => ({
  text: events.map((event) => (event.event_type === 'text-generation' ? (text(event.text) ?? '') : '')).join(''),
  tool_calls: events.flatMap((event) =>
    event.event_type === 'tool-calls-generation' ? objects(event.tool_calls) : [],
  ),
});

interface OpenCall {
  id: unknown;
  name: string;
  arguments: string;
}

function joinMessage(events: readonly Fields[]): { readonly reply: Fields; readonly isCutOff: boolean } {
  let content = '';
  let id: unknown;
  let end: Fields | undefined;
  const calls = new Map<unknown, OpenCall>();
  for (const event of events) {
    const message = fields(fields(event.delta).message);
    if (event.type === 'message-start') id = event.id;
    else if (event.type === 'content-delta') content += text(fields(message.content).text) ?? '';
    else if (event.type === 'message-end') end = fields(event.delta);
    else if (event.type === 'tool-call-start') {
      const call = fields(message.tool_calls);
      const called = fields(call.function);
      calls.set(event.index, { id: call.id, name: text(called.name) ?? '', arguments: text(called.arguments) ?? '' });
    } else if (event.type === 'tool-call-delta') {
      const open = calls.get(event.index);
      if (open !== undefined) open.arguments += text(fields(fields(message.tool_calls).function).arguments) ?? '';
    }
  }
  const tool_calls = [...calls.values()].map(({ id: callId, name, arguments: args }) => ({
    id: callId,
    function: { name, arguments: args },
  }));
  return {
    reply: { id, message: { content, ...(tool_calls.length === 0 ? {} : { tool_calls }) }, ...end },
    isCutOff: end === undefined,
  };
}
