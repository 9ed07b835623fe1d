import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, streamText, type ToolSet, tool } from 'ai';
import { callTool, INSTRUCTIONS, MODEL, QUESTION, TOOLS } from '../../recorder/src/story.ts';

type Args = Record<string, unknown>;
const [provider, how] = process.argv.slice(2);
const tools: ToolSet = Object.fromEntries(
  TOOLS.map(({ name, description, parameters }) => [
    name,
    tool({
      description,
      inputSchema: jsonSchema<Args>(parameters as unknown as Parameters<typeof jsonSchema>[0]),
      execute: async (args: Args) => callTool(name, args),
    }),
  ]),
);
const model =
  provider === 'anthropic'
    ? createAnthropic()('claude-sonnet-5')
    : provider === 'responses'
      ? createOpenAI()(MODEL)
      : createOpenAI().chat(MODEL);
const call = { model, system: INSTRUCTIONS, tools, stopWhen: stepCountIs(5), prompt: QUESTION };
process.stdout.write(how === 'stream' ? await streamText(call).text : (await generateText(call)).text);
