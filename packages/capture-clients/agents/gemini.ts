import { INSTRUCTIONS, QUESTION, TOOLS, tryTool } from '@agentci/recorder';
import { type Content, type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai';

const [how] = process.argv.slice(2);
const client = new GoogleGenAI({});
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
  if (how === 'stream')
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
  if (results.length > 0) {
    contents.push({ role: 'user', parts: results });
    continue;
  }
  process.stdout.write(parts.map(({ text }) => text ?? '').join(''));
  break;
}
