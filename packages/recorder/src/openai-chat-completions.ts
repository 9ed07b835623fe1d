import OpenAI from 'openai';
import { asJson, type Recording } from './recording.ts';
import { INSTRUCTIONS, MODEL, QUESTION, REPLIES, TOOLS, tryTool } from './story.ts';
import { withModel } from './tee.ts';

type Message = OpenAI.Chat.ChatCompletionMessageParam;

/** A typical tool loop, with the SDK's streaming if requested. */
async function converse(client: OpenAI, stream: boolean): Promise<Message[]> {
  const messages: Message[] = [
    { role: 'system', content: INSTRUCTIONS },
    { role: 'user', content: QUESTION },
  ];
  const tools = TOOLS.map((tool) => ({ type: 'function' as const, function: { ...tool } }));
  for (;;) {
    const request = { model: MODEL, messages, tools };
    const completion = stream
      ? await client.chat.completions
          .stream({ ...request, stream_options: { include_usage: true } })
          .finalChatCompletion()
      : await client.chat.completions.create(request);
    const message = completion.choices[0]!.message;
    messages.push(message);
    if (!message.tool_calls?.length) return messages;
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue;
      const { text } = tryTool(call.function.name, JSON.parse(call.function.arguments));
      messages.push({ role: 'tool', tool_call_id: call.id, content: text });
    }
  }
}

export const record = async (): Promise<Recording> => ({
  ...(await withModel(REPLIES, async ({ url, exchanges }) => {
    const messages = await converse(new OpenAI({ baseURL: url, apiKey: 'none' }), false);
    return { 'messages.json': asJson(messages), 'pairs.json': asJson(exchanges) };
  })),
  ...(await withModel(REPLIES, async ({ url, exchanges }) => {
    await converse(new OpenAI({ baseURL: url, apiKey: 'none' }), true);
    return {
      'streamed-pairs.json': asJson(exchanges),
      'streamed-reply.txt': String(exchanges.at(-1)?.response),
    };
  })),
  ...(await withModel(
    [{ status: 429, message: 'rate limit reached' }],
    async ({ url, exchanges }) => {
      const client = new OpenAI({ baseURL: url, apiKey: 'none', maxRetries: 0 });
      await converse(client, false).catch(() => undefined);
      return { 'refused-pairs.json': asJson(exchanges) };
    },
  )),
});
