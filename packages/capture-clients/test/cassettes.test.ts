import type { CaptureSlot, Cassette, Exchange } from '@agentci/capture';
import { ANSWER, REPLIES } from '@agentci/recorder';
import { startScriptedModel } from '@agentci/scripted-model';
import { startChaos } from '@agentci/testing/chaos-upstream';
import { withTape } from '@agentci/testing/recorded-agent';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rowOf } from '../../agentci/test/conformance/row.ts';
import { converseFrames, converseReply } from './fake-bedrock.ts';
import { PYTHON_CLIENTS, pythonFor } from './pythons.ts';
import { runAgent } from './run-client.ts';

/** Number of replays per recording. CASSETTE_REPLAYS=50 is the long version. */
const REPLAYS = Number(process.env.CASSETTE_REPLAYS ?? 2);
const KEY = 'sk-test-0123456789abcdefghij';

type Env = Readonly<Record<string, string>>;

const bytesOf = (exchanges: readonly Exchange[]): readonly (readonly Buffer[])[] =>
  exchanges.map(({ chunks }) => chunks.map(([, bytes]) => bytes));

/** Records the agent once, then replays it without the model and without a key. */
async function recordAndReplay(agent: readonly string[], env: Env, close: () => Promise<unknown>) {
  const { PATH, HOME } = process.env;
  const work = (slot: CaptureSlot) => runAgent(agent, slot.env);
  const recorded = await withTape('record', { env: { PATH, HOME, ...env } }, work);
  await close();
  expect(recorded.text).not.toContain(KEY);
  for (let i = 0; i < REPLAYS; i++) {
    const replayed = await replay(agent, recorded.cassette!);
    expect(replayed.value).toBe(recorded.value);
    expect(replayed.session.counts()).toMatchObject({
      misses: 0,
      unused: 0,
      hits: recorded.cassette!.entries.length,
    });
    expect(bytesOf(replayed.seen.evidence.exchanges)).toEqual(
      bytesOf(recorded.seen.evidence.exchanges),
    );
    expect(rowOf(replayed.seen.trace!)).toEqual(rowOf(recorded.seen.trace!));
    expect(replayed.seen.trace!.captured).toEqual(recorded.seen.trace!.captured);
    expect(replayed.seen.trace!.warnings).toEqual(recorded.seen.trace!.warnings);
  }
  return recorded;
}

const replay = (agent: readonly string[], cassette: Cassette) => {
  const { PATH, HOME } = process.env;
  return withTape('replay', { env: { PATH, HOME }, cassette }, (slot) => runAgent(agent, slot.env));
};

describe('a recorded SDK gets the same bytes again, and gives the same trace and answer', () => {
  const pythons = PYTHON_CLIENTS.filter((client) => pythonFor(client) !== undefined);
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    ['openai, chat', ['openai-chat.ts'], 'openai'],
    ['openai, streamed chat', ['openai-chat.ts', 'stream'], 'openai'],
    ['openai, Responses', ['openai-responses.ts'], 'openai'],
    ['openai, streamed Responses', ['openai-responses.ts', 'stream'], 'openai'],
    ['openai, Azure', ['openai-chat.ts', 'azure'], 'azure'],
    ['anthropic', ['anthropic.ts'], 'anthropic'],
    ['anthropic, streamed', ['anthropic.ts', 'stream'], 'anthropic'],
    ['gemini', ['gemini.ts'], 'gemini'],
    ['gemini, streamed', ['gemini.ts', 'stream'], 'gemini'],
    ['AI SDK with openai chat', ['ai-sdk.ts', 'chat'], 'openai'],
    ['AI SDK with openai chat, streamed', ['ai-sdk.ts', 'chat', 'stream'], 'openai'],
    ['AI SDK with openai Responses', ['ai-sdk.ts', 'responses'], 'openai'],
    ['AI SDK with anthropic', ['ai-sdk.ts', 'anthropic'], 'anthropic with /v1'],
    ['AI SDK with anthropic, streamed', ['ai-sdk.ts', 'anthropic', 'stream'], 'anthropic with /v1'],
    ['LangChain', ['langchain.ts'], 'openai'],
    ['LangChain, streamed', ['langchain.ts', 'stream'], 'openai'],
    ['OpenAI Agents', ['openai-agents.ts'], 'openai'],
    ...pythons.map(
      (client) => [`Python ${client}`, ['python_agent.py', client], 'openai'] as const,
    ),
  ];

  it.each(cases)('%s', async (_, agent, provider) => {
    const model = await startScriptedModel({ script: REPLIES });
    const root = model.url.replace(/\/v1$/, '');
    const envs: Readonly<Record<string, Env>> = {
      openai: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.url },
      anthropic: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: root },
      'anthropic with /v1': { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: model.url },
      gemini: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: root },
      azure: { AZURE_OPENAI_API_KEY: KEY, AZURE_OPENAI_ENDPOINT: root },
    };
    const recorded = await recordAndReplay(agent, envs[provider]!, () => model.close());
    expect(recorded.value).toBe(ANSWER);
    expect(recorded.cassette!.entries).toHaveLength(3);
  });

  it('a miss ends an agent on LangChain, which asks again after most errors', async () => {
    const model = await startScriptedModel({ script: REPLIES });
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.url };
    const { PATH, HOME } = process.env;
    const recorded = await withTape('record', { env: { PATH, HOME, ...env } }, (slot) =>
      runAgent(['langchain.ts'], slot.env),
    );
    await model.close();
    const [first, ...rest] = recorded.cassette!.entries;
    const other = { ...first!, body: { kind: 'json' as const, value: { model: 'other' } } };
    const cassette = { ...recorded.cassette!, entries: [other, ...rest] };
    const missed = await withTape('replay', { env: { PATH, HOME }, cassette }, (slot) =>
      runAgent(['langchain.ts'], slot.env).catch((error: Error) => error.message),
    );
    expect(missed.value).toContain('cassette_miss');
    expect(missed.seen.evidence.exchanges).toHaveLength(1);
  });

  it.each([
    ['Converse', []],
    ['ConverseStream', ['stream']],
  ])('Bedrock %s, over cleartext HTTP/2', async (_, args) => {
    let turn = 0;
    const said = (i: number) => {
      const reply = REPLIES[i]! as {
        text?: string;
        toolCalls?: readonly { name: string; args: unknown }[];
      };
      const [call] = reply.toolCalls ?? [];
      return {
        text: reply.text ?? '',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
        ...(call === undefined
          ? {}
          : { call: { id: `tooluse_${i}`, name: call.name, input: call.args } }),
      };
    };
    const upstream = await startChaos(async (request, response) => {
      const isStream = request.path.endsWith('-stream');
      response.writeHead(200, {
        'content-type': isStream ? 'application/vnd.amazon.eventstream' : 'application/json',
      });
      if (isStream) for (const frame of converseFrames(said(turn++))) response.write(frame);
      else response.write(converseReply(said(turn++)));
      response.end();
    });
    onTestFinished(() => upstream.close());
    const env = { AWS_BEARER_TOKEN_BEDROCK: KEY, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: upstream.url };
    const recorded = await recordAndReplay(['bedrock.ts', ...args], env, () => upstream.close());
    expect(recorded.value).toBe(ANSWER);
  });
});
