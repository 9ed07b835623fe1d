import { present } from '@agentci/lib/data';
import { listOf, type PlainReply, type Protocol, pieces, textOf } from './script.ts';

const finishReason = ({ cutOff, toolCalls, refusal }: PlainReply): string => {
  if (refusal !== undefined) return 'content_filter';
  if (cutOff) return 'length';
  return toolCalls.length > 0 ? 'tool_calls' : 'stop';
};

const usageOf = ({ usage: { input, output } }: PlainReply) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

const toolCall = ({ id, name, args }: PlainReply['toolCalls'][number]) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

/** OpenAI Chat Completions, also used by most other servers. */
export const chat: Protocol = {
  name: 'chat',
  matches: (path) => path.endsWith('/chat/completions'),
  read: (body) => {
    const messages = listOf(body.messages).map(({ role, content }) => ({
      role: String(role),
      text: textOf(content),
    }));
    const isSystem = ({ role }: { role: string }): boolean =>
      role === 'system' || role === 'developer';
    return {
      model: String(body.model),
      system: messages
        .filter(isSystem)
        .map(({ text }) => text)
        .join('\n'),
      messages: messages.filter((item) => !isSystem(item)),
      tools: listOf(body.tools).map((tool) =>
        String((tool.function as { name?: unknown } | undefined)?.name),
      ),
      stream: body.stream === true,
    };
  },
  write: (reply) => ({
    id: reply.id,
    object: 'chat.completion',
    created: 0,
    model: reply.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: reply.text === '' ? null : reply.text,
          refusal: reply.refusal ?? null,
          tool_calls: reply.toolCalls.length > 0 ? reply.toolCalls.map(toolCall) : undefined,
        },
        finish_reason: finishReason(reply),
      },
    ],
    usage: usageOf(reply),
  }),
  stream: (reply) => {
    const chunk = (delta: object, finish_reason: string | null = null, rest: object = {}) => ({
      data: {
        id: reply.id,
        object: 'chat.completion.chunk',
        created: 0,
        model: reply.model,
        choices: [{ index: 0, delta, finish_reason }],
        ...rest,
      },
    });
    return present([
      chunk({ role: 'assistant', content: '' }),
      ...pieces(reply.text).map((content) => chunk({ content })),
      reply.refusal === undefined ? undefined : chunk({ refusal: reply.refusal }),
      ...reply.toolCalls.map((call, index) =>
        chunk({ tool_calls: [{ index, ...toolCall(call) }] }),
      ),
      chunk({}, finishReason(reply)),
      { data: { ...chunk({}).data, choices: [], usage: usageOf(reply) } },
      { data: '[DONE]' },
    ]);
  },
  error: (status, message) => ({
    error: { message, type: status === 429 ? 'rate_limit_exceeded' : 'server_error', code: null },
  }),
};
