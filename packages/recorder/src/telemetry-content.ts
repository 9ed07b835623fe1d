import { present } from '@agentci/lib/data';
import type { LoggerProvider } from '@opentelemetry/sdk-logs';
import type OpenAI from 'openai';
import type { Content, Ticks } from './telemetry.ts';

type Logger = ReturnType<LoggerProvider['getLogger']>;
type LogBody = NonNullable<Parameters<Logger['emit']>[0]['body']>;
type Message = OpenAI.Chat.ChatCompletionMessageParam | OpenAI.Chat.ChatCompletionMessage;

/** Messages on the span, as in the conventions since 1.37. */
export const onSpans: Content = ({ messages, completion }) => ({
  'gen_ai.input.messages': JSON.stringify(
    messages.map((message) => ({ role: message.role, parts: partsOf(message) })),
  ),
  'gen_ai.output.messages': JSON.stringify(
    completion.choices.map(({ message, finish_reason }) => ({
      role: 'assistant',
      parts: partsOf(message),
      finish_reason,
    })),
  ),
});

function partsOf(message: Message): unknown[] {
  if (message.role === 'tool')
    return [{ type: 'tool_call_response', id: message.tool_call_id, response: message.content }];
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  return present([
    typeof message.content === 'string' ? { type: 'text', content: message.content } : undefined,
    ...calls.flatMap((call) =>
      call.type === 'function'
        ? [
            {
              type: 'tool_call',
              id: call.id,
              name: call.function.name,
              arguments: JSON.parse(call.function.arguments),
            },
          ]
        : [],
    ),
  ]);
}

/** One log record per message, as in the conventions 1.28 to 1.36. Spans then have no content. */
export const inLogs =
  (logger: Logger, ticks: Ticks): Content =>
  ({ at, messages, completion }) => {
    const emit = (eventName: string, body: object): void =>
      logger.emit({
        eventName,
        body: JSON.parse(JSON.stringify(body)) as LogBody,
        context: at,
        timestamp: ticks.next(),
        observedTimestamp: ticks.next(),
      });
    for (const { role, ...body } of messages)
      emit(
        `gen_ai.${role}.message`,
        'tool_call_id' in body ? { id: body.tool_call_id, content: body.content } : body,
      );
    for (const { index, finish_reason, message } of completion.choices) {
      const { content, tool_calls } = message;
      emit('gen_ai.choice', { index, finish_reason, message: { content, tool_calls } });
    }
    return {};
  };
