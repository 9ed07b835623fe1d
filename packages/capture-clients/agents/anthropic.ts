import { INSTRUCTIONS, QUESTION, TOOLS, tryTool } from '@agentci/recorder';
import Anthropic from '@anthropic-ai/sdk';

const [how] = process.argv.slice(2);
const client = new Anthropic();
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: QUESTION }];
const tools = TOOLS.map(({ name, description, parameters }) => ({
  name,
  description,
  input_schema: { ...parameters, required: [...parameters.required] },
}));
for (;;) {
  const request = {
    model: 'claude-sonnet-5',
    max_tokens: 1000,
    system: INSTRUCTIONS,
    messages,
    tools,
  };
  const message =
    how === 'stream'
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request);
  messages.push({ role: 'assistant', content: message.content });
  const results = message.content.flatMap((block) => {
    if (block.type !== 'tool_use') return [];
    const { text, isError } = tryTool(block.name, block.input as Record<string, unknown>);
    return [
      {
        type: 'tool_result' as const,
        tool_use_id: block.id,
        content: text,
        is_error: isError || undefined,
      },
    ];
  });
  if (results.length > 0) {
    messages.push({ role: 'user', content: results });
    continue;
  }
  process.stdout.write(
    message.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
  );
  break;
}
