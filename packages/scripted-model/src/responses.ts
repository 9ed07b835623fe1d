import { listOf, type PlainReply, type Protocol, pieces, textOf } from './script.ts';

const usageOf = ({ usage: { input, output } }: PlainReply) => ({
  input_tokens: input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: input + output,
});

function outputOf(reply: PlainReply): Record<string, unknown>[] {
  const output: Record<string, unknown>[] = [];
  const say = (content: object) =>
    output.push({
      id: `msg_${reply.id}`,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [content],
    });
  if (reply.refusal !== undefined) say({ type: 'refusal', refusal: reply.refusal });
  else if (reply.text !== '' || reply.toolCalls.length === 0)
    say({ type: 'output_text', text: reply.text, annotations: [], logprobs: [] });
  for (const { id, name, args } of reply.toolCalls) {
    output.push({
      id: `fc_${id}`,
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify(args),
      status: 'completed',
    });
  }
  return output;
}

const responseOf = (reply: PlainReply, output: unknown[], status: string) => ({
  id: reply.id,
  object: 'response',
  created_at: 0,
  model: reply.model,
  status,
  output,
  error: null,
  incomplete_details: reply.cutOff ? { reason: 'max_output_tokens' } : null,
  service_tier: 'default',
  usage: status === 'in_progress' ? null : usageOf(reply),
});

const finalStatus = ({ cutOff }: PlainReply): string => (cutOff ? 'incomplete' : 'completed');

/** OpenAI Responses. */
export const responses: Protocol = {
  name: 'responses',
  matches: (path) => path.endsWith('/responses'),
  read: (body) => {
    const input =
      typeof body.input === 'string'
        ? [{ role: 'user', text: body.input }]
        : listOf(body.input).map(({ role, type, content, output }) => ({
            role: String(role ?? type),
            text: textOf(content) || textOf(output),
          }));
    const isSystem = ({ role }: { role: string }): boolean =>
      role === 'system' || role === 'developer';
    const system = [textOf(body.instructions), ...input.filter(isSystem).map(({ text }) => text)];
    return {
      model: String(body.model),
      system: system.filter(Boolean).join('\n'),
      messages: input.filter((item) => !isSystem(item)),
      tools: listOf(body.tools).map(({ name }) => String(name)),
      stream: body.stream === true,
    };
  },
  write: (reply) => responseOf(reply, outputOf(reply), finalStatus(reply)),
  stream: (reply) => {
    const events: { event: string; data: Record<string, unknown> }[] = [];
    const send = (type: string, rest: object) =>
      events.push({ event: type, data: { type, sequence_number: events.length, ...rest } });
    send('response.created', { response: responseOf(reply, [], 'in_progress') });
    for (const [output_index, item] of outputOf(reply).entries()) {
      const item_id = item.id;
      const isCall = item.type === 'function_call';
      send('response.output_item.added', {
        output_index,
        item: isCall
          ? { ...item, arguments: '', status: 'in_progress' }
          : { ...item, content: [], status: 'in_progress' },
      });
      if (isCall) {
        for (const delta of pieces(String(item.arguments)))
          send('response.function_call_arguments.delta', { item_id, output_index, delta });
        send('response.function_call_arguments.done', {
          item_id,
          output_index,
          arguments: item.arguments,
        });
      } else if (reply.refusal === undefined) {
        const place = { item_id, output_index, content_index: 0 };
        send('response.content_part.added', {
          ...place,
          part: { type: 'output_text', text: '', annotations: [] },
        });
        for (const delta of pieces(reply.text))
          send('response.output_text.delta', { ...place, delta, logprobs: [] });
        send('response.output_text.done', { ...place, text: reply.text, logprobs: [] });
      }
      send('response.output_item.done', { output_index, item });
    }
    const status = finalStatus(reply);
    send(`response.${status}`, { response: responseOf(reply, outputOf(reply), status) });
    return events;
  },
  error: (status, message) => ({
    error: {
      message,
      type: status === 429 ? 'rate_limit_exceeded' : 'server_error',
      code: null,
      param: null,
    },
  }),
};
