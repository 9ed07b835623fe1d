import { createHash, createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ANSWER, REPLIES } from '@agentci/recorder';
import { startScriptedModel } from '@agentci/scripted-model';
import { type ChaosRequest, startChaos } from '@agentci/testing/chaos-upstream';
import { SignatureV4 } from '@smithy/signature-v4';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rowOf, type TraceRow } from '../../agentci/test/conformance/row.ts';
import { converseFrames, converseReply } from './fake-bedrock.ts';
import { PYTHON_CLIENTS, pythonFor } from './pythons.ts';
import { runClient } from './run-client.ts';

const KEY = 'sk-test-0123456789abcdefghij';

/** The trace of the SDK's own recording of the same story. */
const recorded = (format: string, file: string): TraceRow =>
  JSON.parse(
    readFileSync(
      new URL(`../../agentci/test/conformance/own/${format}.json`, import.meta.url),
      'utf8',
    ),
  )[file].traces[0];

async function withScript() {
  const model = await startScriptedModel({ script: REPLIES });
  onTestFinished(() => model.close());
  const root = model.url.replace(/\/v1$/, '');
  const env = {
    openai: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.url },
    anthropic: { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: root },
    // The AI SDK appends /messages, the official SDK /v1/messages.
    'anthropic with /v1': { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: model.url },
    gemini: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: root },
    azure: { AZURE_OPENAI_API_KEY: KEY, AZURE_OPENAI_ENDPOINT: root },
  } as const;
  return { model, env };
}

type Provider = keyof Awaited<ReturnType<typeof withScript>>['env'];

describe("the trace of a captured SDK equals that of the SDK's recording", () => {
  const CHAT = recorded('openai-chat-completions', 'pairs.json');
  const RESPONSES = recorded('openai-responses', 'pairs.json');
  const CLAUDE = recorded('anthropic-messages', 'pairs.json');
  const GEMINI = recorded('gemini-generate-content', 'pairs.json');
  const pythons = PYTHON_CLIENTS.filter((client) => pythonFor(client) !== undefined);
  const cases: readonly (readonly [string, readonly string[], Provider, TraceRow])[] = [
    ['openai, chat', ['openai-chat.ts'], 'openai', CHAT],
    ['openai, streamed chat', ['openai-chat.ts', 'stream'], 'openai', CHAT],
    ['openai, Responses', ['openai-responses.ts'], 'openai', RESPONSES],
    ['openai, streamed Responses', ['openai-responses.ts', 'stream'], 'openai', RESPONSES],
    ['openai, Azure', ['openai-chat.ts', 'azure'], 'azure', CHAT],
    ['anthropic', ['anthropic.ts'], 'anthropic', CLAUDE],
    ['anthropic, streamed', ['anthropic.ts', 'stream'], 'anthropic', CLAUDE],
    ['gemini', ['gemini.ts'], 'gemini', GEMINI],
    ['gemini, streamed', ['gemini.ts', 'stream'], 'gemini', GEMINI],
    ['AI SDK with openai chat', ['ai-sdk.ts', 'chat'], 'openai', CHAT],
    ['AI SDK with openai chat, streamed', ['ai-sdk.ts', 'chat', 'stream'], 'openai', CHAT],
    ['AI SDK with openai Responses', ['ai-sdk.ts', 'responses'], 'openai', RESPONSES],
    ['AI SDK with anthropic', ['ai-sdk.ts', 'anthropic'], 'anthropic with /v1', CLAUDE],
    [
      'AI SDK with anthropic, streamed',
      ['ai-sdk.ts', 'anthropic', 'stream'],
      'anthropic with /v1',
      CLAUDE,
    ],
    ['LangChain', ['langchain.ts'], 'openai', CHAT],
    ['LangChain, streamed', ['langchain.ts', 'stream'], 'openai', CHAT],
    ['OpenAI Agents', ['openai-agents.ts'], 'openai', RESPONSES],
    ...pythons.map(
      (client) => [`Python ${client}`, ['python_agent.py', client], 'openai', CHAT] as const,
    ),
  ];

  it.each(cases)('%s', async (_, agent, provider, expected) => {
    const { model, env } = await withScript();
    const { answer, trace, evidence, warnings } = await runClient(agent, env[provider]);
    expect(answer).toBe(ANSWER);
    expect(warnings).toEqual([]);
    expect(trace!.warnings).toEqual([]);
    const row = rowOf(trace!);
    // The wording of a tool error depends on the SDK.
    const { results: _results, ...rest } = row;
    expect({ ...rest, tools: rest.tools.map(withoutOutcome) }).toEqual({
      ...expected,
      results: undefined,
      tools: expected.tools.map(withoutOutcome),
    });
    expect(row.results.every((result) => result !== null)).toBe(true);
    expect(trace!.captured).toMatchObject({
      toolCalls: 'full',
      llmCalls: 'full',
      toolResults: 'full',
      usage: 'full',
    });
    expect(model.requests).toHaveLength(3);
    expect(JSON.stringify([evidence, trace])).not.toContain(KEY);
  });

  it(`Python: ${pythons.length} of ${PYTHON_CLIENTS.length} clients are installed here and were run`, () => {
    const absent = PYTHON_CLIENTS.filter((client) => !pythons.includes(client));
    if (absent.length > 0)
      process.stderr.write(
        `NOT RUN, ${absent.length} of ${PYTHON_CLIENTS.length} Python clients, not installed: ${absent.join(', ')}\n`,
      );
    expect(pythons).toContain('urllib');
  });
});

const withoutOutcome = (call: string): string => call.replace(/ [!?]$/, '');

describe('Bedrock', () => {
  const usage = (reply: (typeof REPLIES)[number]) => {
    const { input = 0, output = 0 } = ('usage' in reply ? reply.usage : undefined) ?? {};
    return { inputTokens: input, outputTokens: output, totalTokens: input + output };
  };
  const said = (i: number) => {
    const reply = REPLIES[i]! as {
      text?: string;
      toolCalls?: readonly { name: string; args: unknown }[];
      usage?: { input: number; output: number };
    };
    const [call] = reply.toolCalls ?? [];
    return {
      text: reply.text ?? '',
      usage: usage(REPLIES[i]!),
      ...(call === undefined
        ? {}
        : { call: { id: `tooluse_${i}`, name: call.name, input: call.args } }),
    };
  };

  async function fake(check: (request: ChaosRequest) => void = () => {}) {
    let turn = 0;
    const upstream = await startChaos(async (request, response) => {
      check(request);
      if (request.path.endsWith('/invoke')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(
          JSON.stringify({
            id: 'msg_1',
            type: 'message',
            role: 'assistant',
            model: 'claude',
            content: [{ type: 'text', text: ANSWER }],
            stop_reason: 'end_turn',
            usage: { input_tokens: 5, output_tokens: 6 },
          }),
        );
      } else if (request.path.endsWith('/converse')) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(converseReply(said(turn++)));
      } else {
        response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
        for (const frame of converseFrames(said(turn++))) response.write(frame);
        response.end();
      }
    });
    onTestFinished(() => upstream.close());
    return upstream;
  }

  it.each([
    ['Converse', []],
    ['ConverseStream', ['stream']],
  ])('%s over cleartext HTTP/2 with a bearer token', async (_, args) => {
    const upstream = await fake();
    const { answer, trace } = await runClient(['bedrock.ts', ...args], {
      AWS_BEARER_TOKEN_BEDROCK: KEY,
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: upstream.url,
    });
    expect(answer).toBe(ANSWER);
    expect(upstream.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array(3).fill(`Bearer ${KEY}`),
    );
    expect(rowOf(trace!)).toMatchObject({
      tools: ['get_order({"order_id":"A-17"}) ?', 'refund({"amount":42,"order_id":"A-17"}) !'].map(
        (call) => expect.stringContaining(call.slice(0, 9)),
      ),
      tokens: { input: 460, output: 64, total: 524 },
      llm_calls: 3,
      answer: expect.stringContaining('Order A-17 cost 42'),
    });
    expect(trace!.captured).toMatchObject({ toolCalls: 'full', llmCalls: 'full' });
  });

  it('InvokeModel of an Anthropic model', async () => {
    const upstream = await fake();
    const { answer, trace } = await runClient(['bedrock.ts', 'invoke'], {
      AWS_BEARER_TOKEN_BEDROCK: KEY,
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: upstream.url,
    });
    expect(answer).toBe(ANSWER);
    expect(trace!.captured).toMatchObject({ toolCalls: 'full', llmCalls: 'full', usage: 'full' });
  });

  it('signs a signed request again, for the address it is meant for', async () => {
    const credentials = {
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      sessionToken: 'session-token-of-the-test',
    };
    const checked: boolean[] = [];
    const upstream = await fake((request) => {
      checked.push(true);
      void verify(request, credentials).then((isRight) => checked.push(isRight));
    });
    const { answer } = await runClient(['bedrock.ts'], {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_SESSION_TOKEN: credentials.sessionToken,
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: upstream.url,
    });
    expect(answer).toBe(ANSWER);
    expect(checked).toHaveLength(6);
    expect(checked.every(Boolean)).toBe(true);
  });
});

/** Adapts Node's hashes to the signer of the AWS SDK. */
class Sha256 {
  readonly #hash;
  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash =
      secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string);
  }
  update(data: string | Uint8Array): void {
    this.#hash.update(data);
  }
  async digest(): Promise<Uint8Array> {
    return this.#hash.digest();
  }
  reset(): void {}
}

/** Signs the request with AWS's signer at its stated time, and compares. */
async function verify(
  request: ChaosRequest,
  credentials: ConstructorParameters<typeof SignatureV4>[0]['credentials'],
): Promise<boolean> {
  const { headers } = request;
  const authorization = headers.authorization ?? '';
  const names = /SignedHeaders=([^,]+)/.exec(authorization)![1]!.split(';');
  const stamp = String(headers['x-amz-date']).replace(
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/,
    '$1-$2-$3T$4:$5:$6Z',
  );
  const signer = new SignatureV4({
    credentials,
    region: 'eu-west-1',
    service: 'bedrock',
    sha256: Sha256 as never,
  });
  const signed = await signer.sign(
    {
      method: request.method,
      protocol: 'http:',
      hostname: String(headers.host),
      path: request.path,
      query: {},
      headers: Object.fromEntries(
        names
          .filter((name) => !/^x-amz-(?:date|security-token|content-sha256)$/.test(name))
          .map((name) => [name, String(headers[name])]),
      ),
      body: request.body,
    } as never,
    { signingDate: new Date(stamp) },
  );
  return (signed as unknown as ChaosRequest).headers.authorization === authorization;
}
