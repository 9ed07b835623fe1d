import { listOf, type PlainReply, type Protocol, pieces, textOf } from './script.ts';

const stopReason = ({ refusal, cutOff, toolCalls }: PlainReply): string => {
  if (refusal !== undefined) return 'refusal';
  if (cutOff) return 'max_tokens';
  return toolCalls.length > 0 ? 'tool_use' : 'end_turn';
};

const message = (reply: PlainReply, content: unknown[], usage: object) => ({
  id: reply.id,
  type: 'message',
  role: 'assistant',
  model: reply.model,
  content,
  stop_reason: stopReason(reply),
  stop_sequence: null,
  usage,
});

const usageOf = ({ usage }: PlainReply) => ({
  input_tokens: usage.input,
  output_tokens: usage.output,
});
const bodyText = ({ text, refusal }: PlainReply): string => refusal ?? text;

/** Anthropic Messages. */
export const anthropic: Protocol = {
  name: 'anthropic',
  matches: (path) => path.endsWith('/messages'),
  read: (body) => ({
    model: String(body.model),
    system: textOf(body.system),
    messages: listOf(body.messages).map(({ role, content }) => ({
      role: String(role),
      text: textOf(content),
    })),
    tools: listOf(body.tools).map(({ name }) => String(name)),
    stream: body.stream === true,
  }),
  write: (reply) => {
    const content: unknown[] = [];
    if (bodyText(reply) !== '') content.push({ type: 'text', text: bodyText(reply) });
    for (const { id, name, args } of reply.toolCalls)
      content.push({ type: 'tool_use', id, name, input: args });
    return message(reply, content, usageOf(reply));
  },
  stream: (reply) => {
    const events: { event: string; data: Record<string, unknown> }[] = [];
    const send = (type: string, rest: object = {}) =>
      events.push({ event: type, data: { type, ...rest } });
    const start = {
      ...message(reply, [], { ...usageOf(reply), output_tokens: 1 }),
      stop_reason: null,
    };
    send('message_start', { message: start });
    let index = 0;
    const block = (content_block: object, deltas: object[]) => {
      send('content_block_start', { index, content_block });
      for (const delta of deltas) send('content_block_delta', { index, delta });
      send('content_block_stop', { index });
      index++;
    };
    if (bodyText(reply) !== '')
      block(
        { type: 'text', text: '' },
        pieces(bodyText(reply)).map((text) => ({ type: 'text_delta', text })),
      );
    for (const { id, name, args } of reply.toolCalls) {
      const deltas = pieces(JSON.stringify(args)).map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      }));
      block({ type: 'tool_use', id, name, input: {} }, deltas);
    }
    send('message_delta', {
      delta: { stop_reason: stopReason(reply), stop_sequence: null },
      usage: { output_tokens: reply.usage.output },
    });
    send('message_stop');
    return events;
  },
  error: (status, text) => {
    let type: 'rate_limit_error' | 'api_error' | 'invalid_request_error';
    if (status === 429) type = 'rate_limit_error';
    else if (status >= 500) type = 'api_error';
    else type = 'invalid_request_error';
    return {
      type: 'error',
      error: {
        type,
        message: text,
      },
    };
  },
};
