import { INSTRUCTIONS, QUESTION, TOOLS, tryTool } from '@agentci/recorder';
import {
  BedrockRuntimeClient,
  type ContentBlock,
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelCommand,
  type Message,
} from '@aws-sdk/client-bedrock-runtime';

const [how] = process.argv.slice(2);
const client = new BedrockRuntimeClient({ region: 'eu-west-1' });
const modelId = 'anthropic.claude-sonnet-5:0';
if (how === 'invoke') {
  const body = {
    anthropic_version: 'bedrock-2023-05-31',
    max_tokens: 10,
    messages: [{ role: 'user', content: QUESTION }],
  };
  const reply = await client.send(new InvokeModelCommand({ modelId, body: JSON.stringify(body) }));
  process.stdout.write(JSON.parse(new TextDecoder().decode(reply.body)).content[0].text);
  process.exit();
}
const messages: Message[] = [{ role: 'user', content: [{ text: QUESTION }] }];
const toolConfig = {
  tools: TOOLS.map(({ name, description, parameters }) => ({
    toolSpec: { name, description, inputSchema: { json: JSON.parse(JSON.stringify(parameters)) } },
  })),
};
for (;;) {
  const request = { modelId, messages, system: [{ text: INSTRUCTIONS }], toolConfig };
  const content =
    how === 'stream'
      ? await streamed(request)
      : ((await client.send(new ConverseCommand(request))).output?.message?.content ?? []);
  messages.push({ role: 'assistant', content });
  const results = content.flatMap(({ toolUse }): ContentBlock[] => {
    if (toolUse === undefined) return [];
    const { text, isError } = tryTool(toolUse.name ?? '', toolUse.input as Record<string, unknown>);
    return [
      {
        toolResult: {
          toolUseId: toolUse.toolUseId,
          content: [{ text }],
          status: isError ? ('error' as const) : undefined,
        },
      },
    ];
  });
  if (results.length === 0) {
    process.stdout.write(content.map(({ text }) => text ?? '').join(''));
    break;
  }
  messages.push({ role: 'user', content: results });
}

async function streamed(
  request: ConstructorParameters<typeof ConverseStreamCommand>[0],
): Promise<ContentBlock[]> {
  const { stream } = await client.send(new ConverseStreamCommand(request));
  let text = '';
  let json = '';
  let use: { toolUseId: string | undefined; name: string | undefined } | undefined;
  for await (const event of stream ?? []) {
    const start = event.contentBlockStart?.start?.toolUse;
    if (start) use = { toolUseId: start.toolUseId, name: start.name };
    text += event.contentBlockDelta?.delta?.text ?? '';
    json += event.contentBlockDelta?.delta?.toolUse?.input ?? '';
  }
  return use === undefined ? [{ text }] : [{ toolUse: { ...use, input: JSON.parse(json) } }];
}
