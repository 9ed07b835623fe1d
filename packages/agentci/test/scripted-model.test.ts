import { scriptedModel } from '@agentci/testing/scripted-judge';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, type LanguageModel, streamText, type ToolSet, tool } from 'ai';
import { describe, expect, test } from 'vitest';

// The real SDKs must accept the scripted server.

const MODELS: Record<string, (baseURL: string) => LanguageModel> = {
  anthropic: (baseURL) => createAnthropic({ baseURL, apiKey: 'k' })('claude-sonnet-4-5'),
  responses: (baseURL) => createOpenAI({ baseURL, apiKey: 'k' }).responses('gpt-4o'),
  chat: (baseURL) => createOpenAI({ baseURL, apiKey: 'k' }).chat('gpt-4o'),
  gemini: (baseURL) => createGoogleGenerativeAI({ baseURL, apiKey: 'k' })('gemini-2.5-flash'),
};
const lookup = tool({
  inputSchema: jsonSchema({ type: 'object', properties: { q: { type: 'string' } } }),
});
// The SDK's types do not support exactOptionalPropertyTypes.
const tools = { lookup } as unknown as ToolSet;
const text = 'It is 12 degrees in Oslo, and raining since the morning.';
const call = { toolName: 'lookup', input: { q: 'weather in Oslo' } };
const toolCalls = [{ name: 'lookup', args: call.input }];

describe.each(Object.entries(MODELS))('%s', (protocol, modelAt) => {
  test('text, usage and unique ids', async () => {
    const server = await scriptedModel([{ text, usage: { input: 11, output: 7 } }]);
    const ask = () =>
      generateText({
        model: modelAt(server.url),
        system: 'be brief',
        prompt: 'weather?',
        maxRetries: 0,
      });
    const [first, second] = [await ask(), await ask()];
    expect(first).toMatchObject({
      text,
      finishReason: 'stop',
      usage: { inputTokens: 11, outputTokens: 7 },
    });
    if (protocol !== 'gemini') expect(first.response.id).not.toBe(second.response.id);
    expect(server.requests[0]).toMatchObject({
      protocol,
      system: 'be brief',
      stream: false,
      messages: [{ text: 'weather?' }],
    });
  });

  test('a tool call, and the next turn with its result', async () => {
    const server = await scriptedModel([{ toolCalls }, { text }]);
    const model = modelAt(server.url);
    const first = await generateText({ model, tools, prompt: 'weather?', maxRetries: 0 });
    expect(first.toolCalls).toMatchObject([call]);
    const { toolCallId, toolName } = first.toolCalls[0]!;
    const result = {
      type: 'tool-result' as const,
      toolCallId,
      toolName,
      output: { type: 'text' as const, value: '12 degrees' },
    };
    const messages = [
      { role: 'user' as const, content: 'weather?' },
      ...first.response.messages,
      { role: 'tool' as const, content: [result] },
    ];
    expect((await generateText({ model, tools, messages, maxRetries: 0 })).text).toBe(text);
    expect(server.requests[1]!.tools).toEqual(['lookup']);
  });

  test('a stream of text and of a tool call', async () => {
    const server = await scriptedModel([{ text, usage: { input: 11, output: 7 } }, { toolCalls }]);
    const model = modelAt(server.url);
    const spoken = streamText({ model, prompt: 'weather?', maxRetries: 0 });
    const pieces: string[] = [];
    for await (const piece of spoken.textStream) pieces.push(piece);
    expect(pieces.join('')).toBe(text);
    expect(pieces.length).toBeGreaterThan(1);
    expect((await spoken.usage).outputTokens).toBe(7);
    const called = streamText({ model, tools, prompt: 'weather?', maxRetries: 0 });
    await called.consumeStream();
    expect(await called.toolCalls).toMatchObject([call]);
  });

  test.each([
    {
      fault: { status: 429, retryAfter: 3 },
      error: { statusCode: 429, isRetryable: true, responseHeaders: { 'retry-after': '3' } },
    },
    { fault: { status: 500 }, error: { statusCode: 500, isRetryable: true } },
    {
      fault: { status: 400, message: 'no such thing' },
      error: { statusCode: 400, isRetryable: false, message: 'no such thing' },
    },
  ])('a fault $fault.status is an error of the SDK', async ({ fault, error }) => {
    const server = await scriptedModel([fault]);
    await expect(
      generateText({ model: modelAt(server.url), prompt: 'x', maxRetries: 0 }),
    ).rejects.toMatchObject(error);
  });

  test.each([
    { truncatedBody: true as const },
    { wrongSchema: true as const },
    { hangUp: true as const },
  ])('a broken reply %o is an error', async (fault) => {
    const server = await scriptedModel([fault]);
    await expect(
      generateText({ model: modelAt(server.url), prompt: 'x', maxRetries: 0 }),
    ).rejects.toThrow();
  });
});

test('what it does not speak it does not serve', async () => {
  const server = await scriptedModel([{ text }]);
  expect((await fetch(`${server.url}/embeddings`, { method: 'POST', body: '{}' })).status).toBe(
    404,
  );
  expect((await fetch(`${server.url}/messages`, { method: 'POST', body: 'no JSON' })).status).toBe(
    400,
  );
  expect(server.requests).toEqual([]);
});
