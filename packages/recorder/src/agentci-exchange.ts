import type { Exchange } from '@agentci/capture';
import { createCapture, exchangeLine } from '@agentci/capture';
import { type ScriptedReply, startScriptedModel } from '@agentci/scripted-model';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Recording } from './recording.ts';
import { stableText } from './stable.ts';
import { INSTRUCTIONS, MODEL, QUESTION, REPLIES, TOOLS, tryTool } from './story.ts';

const RUN = 'a1b2c3d4e5f60718';

type Env = Readonly<Record<string, string | undefined>>;

/** The files of a capture while a program calls the scripted model through it. */
async function captured(
  script: readonly ScriptedReply[],
  use: (env: Env) => Promise<unknown>,
): Promise<string> {
  const model = await startScriptedModel({ script });
  const root = model.url.replace(/\/v1$/, '');
  const exchanges: Exchange[] = [];
  const capture = createCapture({
    planes: ['llm'],
    env: { OPENAI_BASE_URL: model.url, ANTHROPIC_BASE_URL: root },
    cwd: '/',
    onExchange: (exchange) => exchanges.push(exchange),
  });
  const slot = await capture.open();
  await use(slot.env);
  await slot.end('itself');
  await slot.close();
  await capture.close();
  await model.close();
  return stableText(
    exchanges.map((exchange) => `${exchangeLine(evenly(exchange), RUN)}\n`).join(''),
  );
}

/** Removes times and chunk borders, which differ between runs. */
function evenly(exchange: Exchange): Exchange {
  const bytes = Buffer.concat(exchange.chunks.map(([, chunk]) => chunk));
  const chunks = bytes.length === 0 ? [] : [[4, bytes] as const];
  return { ...exchange, chunks, ttfbMs: exchange.ttfbMs === undefined ? undefined : 4, endMs: 6 };
}

async function chat(
  env: Env,
  options: { readonly stream?: boolean; readonly maxRetries?: number } = {},
): Promise<string> {
  const client = new OpenAI({
    baseURL: env.OPENAI_BASE_URL,
    apiKey: 'none',
    maxRetries: options.maxRetries ?? 0,
  });
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [
    { role: 'system', content: INSTRUCTIONS },
    { role: 'user', content: QUESTION },
  ];
  const tools = TOOLS.map((tool) => ({ type: 'function' as const, function: { ...tool } }));
  for (;;) {
    const request = { model: MODEL, messages, tools };
    const completion = options.stream
      ? await client.chat.completions.stream(request).finalChatCompletion()
      : await client.chat.completions.create(request);
    const { message } = completion.choices[0]!;
    messages.push(message);
    if (!message.tool_calls?.length) return message.content ?? '';
    for (const call of message.tool_calls)
      if (call.type === 'function')
        messages.push({
          role: 'tool',
          tool_call_id: call.id,
          content: tryTool(call.function.name, JSON.parse(call.function.arguments)).text,
        });
  }
}

async function reword(env: Env, text: string): Promise<void> {
  const client = new Anthropic({ baseURL: env.ANTHROPIC_BASE_URL, apiKey: 'none', maxRetries: 0 });
  const content = `Say this in one sentence: ${text}`;
  await client.messages.create({
    model: 'claude-haiku-4-5',
    max_tokens: 100,
    messages: [{ role: 'user', content }],
  });
}

export const record = async (): Promise<Recording> => ({
  'exchanges.jsonl': await captured(REPLIES, (env) => chat(env)),
  'streamed.jsonl': await captured(REPLIES, (env) => chat(env, { stream: true })),
  'two-providers.jsonl': await captured(
    [{ text: 'The customer wants a refund.', usage: { input: 30, output: 12 } }, ...REPLIES],
    async (env) => {
      await reword(env, QUESTION);
      await chat(env);
    },
  ),
  'retried.jsonl': await captured(
    [{ status: 429, message: 'rate limit reached', retryAfter: 0 }, ...REPLIES],
    (env) => chat(env, { maxRetries: 2 }),
  ),
  'refused.jsonl': await captured([{ status: 401, message: 'no such key' }], (env) =>
    chat(env).catch(() => undefined),
  ),
});
