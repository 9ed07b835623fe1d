import { INSTRUCTIONS, MODEL, QUESTION, TOOLS, tryTool } from '@agentci/recorder';
import {
  AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';

const [how] = process.argv.slice(2);
const tools = TOOLS.map((tool) => ({ type: 'function' as const, function: { ...tool } }));
const model = new ChatOpenAI({ model: MODEL, useResponsesApi: false }).bindTools(tools);
const messages: BaseMessage[] = [new SystemMessage(INSTRUCTIONS), new HumanMessage(QUESTION)];
for (;;) {
  let reply: AIMessage | AIMessageChunk | undefined;
  if (how === 'stream') {
    let whole: AIMessageChunk | undefined;
    for await (const chunk of await model.stream(messages))
      whole = whole === undefined ? chunk : whole.concat(chunk);
    reply = whole;
  } else reply = await model.invoke(messages);
  if (reply === undefined) throw new Error('no reply');
  const calls = reply.tool_calls ?? [];
  messages.push(new AIMessage({ content: reply.content as string, tool_calls: calls }));
  for (const { id = '', name, args } of calls)
    messages.push(new ToolMessage({ tool_call_id: id, content: tryTool(name, args).text }));
  if (calls.length > 0) continue;
  process.stdout.write(String(reply.content));
  break;
}
