import { callTool, INSTRUCTIONS, MODEL, QUESTION, TOOLS } from '@agentci/recorder';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createGroq } from '@ai-sdk/groq';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, stepCountIs, streamText, type ToolSet, tool } from 'ai';

type Args = Record<string, unknown>;
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
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
const models = {
  anthropic: () => createAnthropic()('claude-sonnet-5'),
  chat: () => createOpenAI().chat(MODEL),
  responses: () => createOpenAI()(MODEL),
  // These providers read no address from the environment.
  google: () => createGoogleGenerativeAI()('gemini-3-flash'),
  groq: () => createGroq()(MODEL),
  mistral: () => createMistral()(MODEL),
};
const model = models[provider as keyof typeof models]();
const call = { model, system: INSTRUCTIONS, tools, stopWhen: stepCountIs(5), prompt: QUESTION };
process.stdout.write(
  how === 'stream' ? await streamText(call).text : (await generateText(call)).text,
);
