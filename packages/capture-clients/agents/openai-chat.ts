import { INSTRUCTIONS, MODEL, QUESTION, TOOLS, tryTool } from '@agentci/recorder';
import OpenAI, { AzureOpenAI } from 'openai';

const [how] = process.argv.slice(2);
const client =
  how === 'azure' ? new AzureOpenAI({ apiVersion: '2024-10-21', deployment: MODEL }) : new OpenAI();
const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
  { role: 'system', content: INSTRUCTIONS },
  { role: 'user', content: QUESTION },
];
const tools = TOOLS.map((tool) => ({ type: 'function' as const, function: { ...tool } }));
for (;;) {
  const request = { model: MODEL, messages, tools };
  // Most programs do not request usage.
  const completion =
    how === 'stream'
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request);
  if (how === 'stream' && completion.usage) throw new Error('a usage nobody asked for');
  const { message } = completion.choices[0]!;
  messages.push(message);
  if (!message.tool_calls?.length) {
    process.stdout.write(message.content ?? '');
    break;
  }
  for (const call of message.tool_calls) {
    if (call.type !== 'function') continue;
    const { text } = tryTool(call.function.name, JSON.parse(call.function.arguments));
    messages.push({ role: 'tool', tool_call_id: call.id, content: text });
  }
}
