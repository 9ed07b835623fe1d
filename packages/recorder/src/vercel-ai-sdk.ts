import { createOpenAI } from '@ai-sdk/openai';
import {
  convertToModelMessages,
  generateText,
  jsonSchema,
  readUIMessageStream,
  stepCountIs,
  streamText,
  type ToolSet,
  tool,
  type UIMessage,
} from 'ai';
import { asJson, type Recording } from './recording.ts';
import { stable } from './stable.ts';
import { callTool, INSTRUCTIONS, MODEL, QUESTION, REPLIES, TOOLS } from './story.ts';
import { withModel } from './tee.ts';

type Args = Record<string, unknown>;

/** The tools in the SDK's format. A thrown error becomes a `tool-error` part. */
const sdkTools: ToolSet = Object.fromEntries(
  TOOLS.map(({ name, description, parameters }) => [
    name,
    tool({
      description,
      inputSchema: jsonSchema<Args>(parameters as unknown as Parameters<typeof jsonSchema>[0]),
      execute: async (args: Args) => callTool(name, args),
    }),
  ]),
);

/** Arguments of an SDK run against the scripted model. */
export const sdkCall = (url: string) => ({
  model: createOpenAI({ baseURL: url, apiKey: 'none' }).chat(MODEL),
  system: INSTRUCTIONS,
  tools: sdkTools,
  stopWhen: stepCountIs(5),
});

export const record = async (): Promise<Recording> => ({
  ...(await withModel(REPLIES, async ({ url }) => {
    const { steps, response } = await generateText({ ...sdkCall(url), prompt: QUESTION });
    return {
      'steps.json': asJson(stable(steps)),
      'messages.json': asJson(stable([{ role: 'user', content: QUESTION }, ...response.messages])),
    };
  })),
  ...(await withModel(REPLIES, async ({ url }) => {
    const asked: UIMessage = {
      id: 'msg-1',
      role: 'user',
      parts: [{ type: 'text', text: QUESTION }],
    };
    const result = streamText({ ...sdkCall(url), messages: await convertToModelMessages([asked]) });
    let answer: UIMessage | undefined;
    const stream = result.toUIMessageStream({ generateMessageId: () => 'msg-2', onError: String });
    for await (const message of readUIMessageStream({ stream })) answer = message;
    return { 'streamed-ui-messages.json': asJson(stable([asked, answer])) };
  })),
});
