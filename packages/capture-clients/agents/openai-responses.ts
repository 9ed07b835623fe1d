import { INSTRUCTIONS, MODEL, QUESTION, TOOLS, tryTool } from '@agentci/recorder';
import OpenAI from 'openai';

const [how] = process.argv.slice(2);
const client = new OpenAI();
const tools = TOOLS.map((tool) => ({
  type: 'function' as const,
  strict: true,
  ...tool,
  parameters: { ...tool.parameters },
}));
const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: QUESTION }];
for (;;) {
  const request = { model: MODEL, instructions: INSTRUCTIONS, input: [...input], tools };
  const response =
    how === 'stream'
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
  input.push(...(response.output as OpenAI.Responses.ResponseInputItem[]));
  const calls = response.output.filter((item) => item.type === 'function_call');
  for (const { call_id, name, arguments: args } of calls)
    input.push({
      type: 'function_call_output',
      call_id,
      output: tryTool(name, JSON.parse(args)).text,
    });
  if (calls.length > 0) continue;
  process.stdout.write(response.output_text);
  break;
}
