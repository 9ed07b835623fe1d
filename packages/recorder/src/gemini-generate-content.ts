import { type Content, type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai';
import { asJson, type Recording } from './recording.ts';
import { INSTRUCTIONS, QUESTION, REPLIES, TOOLS, tryTool } from './story.ts';
import { withModel } from './tee.ts';

async function converse(client: GoogleGenAI, stream: boolean): Promise<Content[]> {
  const contents: Content[] = [{ role: 'user', parts: [{ text: QUESTION }] }];
  const functionDeclarations = TOOLS.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: parameters,
  }));
  for (;;) {
    const request = {
      model: 'gemini-2.5-flash',
      contents,
      config: { systemInstruction: INSTRUCTIONS, tools: [{ functionDeclarations }] },
    };
    const replies: GenerateContentResponse[] = [];
    if (stream)
      for await (const chunk of await client.models.generateContentStream(request))
        replies.push(chunk);
    else replies.push(await client.models.generateContent(request));
    const parts = replies.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    contents.push({ role: 'model', parts });
    const results = parts.flatMap(({ functionCall }): Part[] => {
      if (functionCall === undefined) return [];
      const name = functionCall.name ?? '';
      const { text, isError } = tryTool(name, functionCall.args ?? {});
      return [
        {
          functionResponse: {
            name,
            response: isError ? { error: text } : { output: JSON.parse(text) },
          },
        },
      ];
    });
    if (results.length === 0) return contents;
    contents.push({ role: 'user', parts: results });
  }
}

export const record = async (): Promise<Recording> => {
  const files: Record<string, string> = {};
  for (const stream of [false, true]) {
    await withModel(REPLIES, async ({ url, exchanges }) => {
      const httpOptions = { baseUrl: url.replace(/\/v1$/, ''), apiVersion: 'v1' };
      const contents = await converse(new GoogleGenAI({ apiKey: 'none', httpOptions }), stream);
      files[stream ? 'streamed-pairs.json' : 'pairs.json'] = asJson(exchanges);
      if (!stream) files['contents.json'] = asJson(contents);
    });
  }
  return files;
};
