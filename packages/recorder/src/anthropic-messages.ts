import Anthropic from '@anthropic-ai/sdk';
import { asJson, type Recording } from './recording.ts';
import { INSTRUCTIONS, QUESTION, REPLIES, TOOLS, tryTool } from './story.ts';
import { withModel } from './tee.ts';

async function converse(client: Anthropic, stream: boolean): Promise<Anthropic.MessageParam[]> {
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
    const message = stream
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
    if (results.length === 0) return messages;
    messages.push({ role: 'user', content: results });
  }
}

export const record = async (): Promise<Recording> => {
  const files: Record<string, string> = {};
  for (const stream of [false, true]) {
    await withModel(REPLIES, async ({ url, exchanges }) => {
      const client = new Anthropic({ baseURL: url.replace(/\/v1$/, ''), apiKey: 'none' });
      const messages = await converse(client, stream);
      files[stream ? 'streamed-pairs.json' : 'pairs.json'] = asJson(exchanges);
      if (stream) files['streamed-reply.txt'] = String(exchanges.at(-1)?.response);
      else files['messages.json'] = asJson(messages);
    });
  }
  return files;
};
