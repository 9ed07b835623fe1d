import OpenAI from 'openai';
import { asJson, type Recording } from './recording.ts';
import { INSTRUCTIONS, MODEL, QUESTION, REPLIES, TOOLS, tryTool } from './story.ts';
import { withModel } from './tee.ts';

type Item = OpenAI.Responses.ResponseInputItem;
type How = 'whole' | 'streamed' | 'chained';

/**
 * `chained` sends only new items and the id of the previous reply, because the provider keeps the
 * history.
 */
async function converse(client: OpenAI, how: How): Promise<Item[]> {
  const items: Item[] = [{ role: 'user', content: QUESTION }];
  const tools = TOOLS.map((tool) => ({
    type: 'function' as const,
    strict: true,
    ...tool,
    parameters: { ...tool.parameters },
  }));
  let input: Item[] = items;
  let previous: string | undefined;
  for (;;) {
    const request = {
      model: MODEL,
      instructions: INSTRUCTIONS,
      input: [...input],
      tools,
      previous_response_id: previous,
    };
    const response =
      how === 'streamed'
        ? await client.responses.stream(request).finalResponse()
        : await client.responses.create(request);
    const output = response.output as Item[];
    items.push(...output);
    const results: Item[] = response.output.flatMap((item) =>
      item.type === 'function_call'
        ? [
            {
              type: 'function_call_output' as const,
              call_id: item.call_id,
              output: tryTool(item.name, JSON.parse(item.arguments)).text,
            },
          ]
        : [],
    );
    if (results.length === 0) return items;
    items.push(...results);
    if (how === 'chained') [input, previous] = [results, response.id];
  }
}

export const record = async (): Promise<Recording> => {
  const files: Record<string, string> = {};
  for (const how of ['whole', 'streamed', 'chained'] as const) {
    await withModel(REPLIES, async ({ url, exchanges }) => {
      const items = await converse(new OpenAI({ baseURL: url, apiKey: 'none' }), how);
      files[how === 'whole' ? 'pairs.json' : `${how}-pairs.json`] = asJson(exchanges);
      if (how === 'whole') files['items.json'] = asJson(items);
      if (how === 'streamed') files['streamed-reply.txt'] = String(exchanges.at(-1)?.response);
    });
  }
  return files;
};
