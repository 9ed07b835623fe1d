import {
  type Attributes,
  type Context,
  context,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import OpenAI from 'openai';
import { callTool, INSTRUCTIONS, MODEL, QUESTION, TOOLS } from './story.ts';

type Message = OpenAI.Chat.ChatCompletionMessageParam;
type Completion = OpenAI.Chat.ChatCompletion;
type Calls = NonNullable<OpenAI.Chat.ChatCompletionMessage['tool_calls']>;

/** Location of the content in an instrumentation: on the span, or in separate log records. */
export type Content = (call: {
  at: Context;
  messages: readonly Message[];
  completion: Completion;
}) => Attributes;

/** Span times a millisecond apart, because the SDK's clock would differ in every run. */
export class Ticks {
  #now = Date.UTC(2026, 0, 5, 9);
  readonly next = (): number => ++this.#now;
}

/**
 * The agent of the story with manual instrumentation by the GenAI conventions: an `invoke_agent`
 * span around `chat` and `execute_tool` spans.
 */
export async function runInstrumented(options: {
  readonly url: string;
  readonly tracer: Tracer;
  readonly ticks: Ticks;
  readonly content: Content;
}): Promise<void> {
  const { url, tracer, ticks, content } = options;
  const client = new OpenAI({ baseURL: url, apiKey: 'none' });
  const messages: Message[] = [
    { role: 'system', content: INSTRUCTIONS },
    { role: 'user', content: QUESTION },
  ];
  const root = tracer.startSpan('invoke_agent support', {
    startTime: ticks.next(),
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'support' },
  });
  const within = trace.setSpan(context.active(), root);
  for (let calls: Calls | undefined; calls === undefined || calls.length > 0; ) {
    calls = await chat({ client, tracer, ticks, within, messages, content });
    for (const call of calls)
      if (call.type === 'function') messages.push(runTool({ tracer, ticks, within, call }));
  }
  root.end(ticks.next());
}

async function chat(options: {
  readonly client: OpenAI;
  readonly tracer: Tracer;
  readonly ticks: Ticks;
  readonly within: Context;
  readonly messages: Message[];
  readonly content: Content;
}): Promise<Calls> {
  const { client, tracer, ticks, within, messages, content } = options;
  const span = tracer.startSpan(
    `chat ${MODEL}`,
    {
      kind: SpanKind.CLIENT,
      startTime: ticks.next(),
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': MODEL,
      },
    },
    within,
  );
  const tools = TOOLS.map((tool) => ({ type: 'function' as const, function: { ...tool } }));
  const completion = await client.chat.completions.create({ model: MODEL, messages, tools });
  span.setAttributes({
    'gen_ai.response.id': completion.id,
    'gen_ai.response.model': completion.model,
    'gen_ai.response.finish_reasons': [completion.choices[0]!.finish_reason],
    'gen_ai.usage.input_tokens': completion.usage?.prompt_tokens ?? 0,
    'gen_ai.usage.output_tokens': completion.usage?.completion_tokens ?? 0,
    ...content({ at: trace.setSpan(within, span), messages, completion }),
  });
  span.end(ticks.next());
  const { message } = completion.choices[0]!;
  messages.push(message);
  return message.tool_calls ?? [];
}

function runTool(options: {
  readonly tracer: Tracer;
  readonly ticks: Ticks;
  readonly within: Context;
  readonly call: OpenAI.Chat.ChatCompletionMessageFunctionToolCall;
}): Message {
  const { tracer, ticks, within, call } = options;
  const { name } = call.function;
  const attributes = {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': call.id,
    'gen_ai.tool.call.arguments': call.function.arguments,
  };
  const span = tracer.startSpan(
    `execute_tool ${name}`,
    { startTime: ticks.next(), attributes },
    within,
  );
  let said: string;
  try {
    said = JSON.stringify(callTool(name, JSON.parse(call.function.arguments)));
    span.setAttribute('gen_ai.tool.call.result', said);
  } catch (error) {
    const { name: type, message } = error as Error;
    said = `Error: ${message}`;
    span.setAttribute('error.type', type);
    span.addEvent(
      'exception',
      { 'exception.type': type, 'exception.message': message },
      ticks.next(),
    );
    span.setStatus({ code: SpanStatusCode.ERROR, message });
  }
  span.end(ticks.next());
  return { role: 'tool', tool_call_id: call.id, content: said };
}
