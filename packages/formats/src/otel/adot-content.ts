import { type Fields, isFields } from '@agentci/trace';
import { fields, label, objects, pick, text, unpacked } from '../build/values.ts';
import type { Span, SpanEvent } from './span.ts';

/**
 * AWS's distribution (ADOT) moves messages from spans into one event per span, with a body `{input:
 * {messages}, output: {messages}}`. This puts them back where the span's dialect expects them.
 */
export function withAdotContent(span: Span): Span {
  const body = span.events.map(({ body: given }) => unpacked(given)).find(isAdotBody);
  if (body === undefined) return span;
  const content = contentOf(body);
  const { attributes, scope } = span;
  const operation = attributes['gen_ai.operation.name'];
  if (typeof attributes['openinference.span.kind'] === 'string')
    return filled(span, openinference(content));
  if (typeof attributes['traceloop.span.kind'] === 'string')
    return filled(span, traceloop(content));
  if (operation === 'execute_tool') return filled(span, toolContent(content));
  if (typeof operation === 'string') return filled(span, messages(content));
  if (scope.startsWith('openinference.') || scope.startsWith('opentelemetry.instrumentation.'))
    return filled(span, guessed(content) ?? {});
  return filled(span, messages(content));
}

/** Never replaces the span's own content. */
const filled = (span: Span, more: Fields): Span => ({
  ...span,
  attributes: { ...more, ...span.attributes },
});

export const isAdotBody = (body: unknown): body is Fields =>
  isFields(body) &&
  [body.input, body.output].some((side) => isFields(side) && Array.isArray(side.messages));

interface Content {
  readonly input: readonly Fields[];
  readonly output: readonly Fields[];
}

/**
 * A reply is under `message`, with its finish reason. Earlier assistant messages have the same
 * role, so they come with the output, under `content`, but belong to the input.
 */
function contentOf(body: Fields): Content {
  const put = objects(fields(body.output).messages);
  const replies = put.filter(({ content }) => isReply(content));
  const past = replies.length === 0 ? [] : put.filter(({ content }) => !isReply(content));
  const told = objects(fields(body.input).messages);
  return {
    input: [...told, ...past].map((message) => messageOf(message, 'user')),
    output: (replies.length === 0 ? put : replies).map((message) =>
      messageOf(message, 'assistant'),
    ),
  };
}

const isReply = (content: unknown): boolean => isFields(content) && 'message' in content;

function messageOf({ role, content }: Fields, otherwise: string): Fields {
  const outer = unpacked(content);
  // A typed message, such as LangChain's, is kept whole.
  const inner =
    isFields(outer) && !('type' in outer)
      ? unpacked(pick(outer, 'message', 'content') ?? outer)
      : outer;
  const id = isFields(outer) ? label(outer.id) : undefined;
  const said = role === undefined || role === 'unknown' ? otherwise : role;
  return { role: said, content: inner, tool_call_id: id, id };
}

const messages = ({ input, output }: Content): Fields => ({
  'gen_ai.input.messages': input.length === 0 ? undefined : input,
  'gen_ai.output.messages': output.length === 0 ? undefined : output,
});

function toolContent({ input, output }: Content): Fields {
  return {
    'gen_ai.tool.call.arguments': asText(input[0]?.content),
    'gen_ai.tool.call.result': resultText(output[0]?.content),
    'gen_ai.tool.call.id': input[0]?.id,
  };
}

const openinference = ({ input, output }: Content): Fields => ({
  'input.value': asText(input.at(-1)?.content),
  'output.value': asText(output.at(-1)?.content),
});

const traceloop = ({ input, output }: Content): Fields => ({
  'traceloop.entity.input': asText(input.at(-1)?.content),
  'traceloop.entity.output': asText(output.at(-1)?.content),
});

const asText = (value: unknown): string | undefined =>
  value === undefined || typeof value === 'string' ? text(value) : JSON.stringify(value);

/** A result in blocks is its text. */
function resultText(value: unknown): string | undefined {
  const texts = objects(value).flatMap((block) => text(block.text) ?? []);
  return texts.length > 0 ? texts.join('\n') : asText(value);
}

/** A span with only its event left: its output identifies it. */
function guessed({ input, output }: Content): Fields | undefined {
  const put = fields(output.at(-1)?.content);
  const [first] = Array.isArray(put.generations) ? put.generations.flat().filter(isFields) : [];
  if (first !== undefined) {
    const message = fields(first.message);
    const kept = fields(message.kwargs ?? message);
    return {
      'gen_ai.operation.name': 'chat',
      ...messages({
        input,
        output: [
          {
            role: 'assistant',
            content: text(first.text) ?? kept.content,
            tool_calls: kept.tool_calls,
          },
        ],
      }),
    };
  }
  if (put.type !== 'tool' || typeof put.name !== 'string') return undefined;
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': put.name,
    'gen_ai.tool.call.id': label(put.tool_call_id),
    'gen_ai.tool.call.arguments': asText(input.at(-1)?.content),
    'gen_ai.tool.call.result': asText(put.content),
    'error.type': put.status === 'error' ? 'tool_error' : undefined,
  };
}

/**
 * The kind of a Strands event without its span: a model reply is a list of blocks with a finish
 * reason, an agent's a text. A cycle repeats its reply and a tool its call, without reason or name.
 */
export function operationOf(event: SpanEvent): 'chat' | 'invoke_agent' | undefined {
  const body = unpacked(event.body);
  if (!isAdotBody(body)) return undefined;
  const reply = objects(fields(body.output).messages)
    .map(({ content }) => content)
    .findLast(isReply);
  if (!isFields(reply) || !('finish_reason' in reply)) return undefined;
  return Array.isArray(unpacked(reply.message)) ? 'chat' : 'invoke_agent';
}
