import { ANSWER, REPLIES } from '@agentci/recorder';
import { startScriptedModel } from '@agentci/scripted-model';
import { startChaos } from '@agentci/testing/chaos-upstream';
import { toolCalls } from '@agentci/trace';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rowOf } from '../../agentci/test/conformance/row.ts';
import { runClient } from './run-client.ts';

const KEY = 'sk-test-0123456789abcdefghij';
const PLANES = { planes: ['llm', 'otlp'] as const };

async function scripted() {
  const model = await startScriptedModel({ script: REPLIES });
  onTestFinished(() => model.close());
  return { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.url };
}

describe('spans and exchanges of one call are one step', () => {
  it.each([
    ['JSON over HTTP', ['http']],
    ['protobuf over HTTP', ['proto']],
    ['gRPC', ['grpc']],
    ['without ids of replies, by time', ['proto', 'no-ids']],
    ['sent by the timer alone', ['proto', 'no-shutdown']],
  ])('%s', async (_, args) => {
    const { answer, trace, warnings, evidence } = await runClient(
      ['traced.ts', ...args],
      await scripted(),
      PLANES,
    );
    expect(answer).toBe(ANSWER);
    expect(warnings).toEqual([]);
    expect(trace!.warnings).toEqual([]);
    expect(evidence.exchanges).toHaveLength(3);
    expect(rowOf(trace!)).toMatchObject({
      tools: [
        'audit(-)',
        'get_order({"order_id":"A-17"})',
        'refund({"order_id":"A-17","amount":42}) !',
      ],
      agents: ['support'],
      llm_calls: 3,
      tokens: { input: 460, output: 64, total: 524 },
    });
    expect(toolCalls(trace!).map((call) => call.evidence)).toMatchObject([
      ['span'],
      { length: 2 },
      { length: 2 },
    ]);
    expect(trace!.captured).toMatchObject({ llmCalls: 'full', toolCalls: 'full', usage: 'full' });
  });

  it('a program that sends no span at all is known by what went over the wire', async () => {
    const { trace, evidence } = await runClient(
      ['traced.ts', 'proto', 'lose'],
      await scripted(),
      PLANES,
    );
    // No spans arrived. The wire data alone is complete.
    expect(evidence.telemetry).toEqual([]);
    expect(rowOf(trace!).llm_calls).toBe(3);
  });

  it('a program that takes its last spans with it: tool calls are partial', async () => {
    const { trace } = await runClient(
      ['traced.ts', 'proto', 'lose-last'],
      await scripted(),
      PLANES,
    );
    expect(trace!.warnings).toMatchObject([{ code: 'SPANS_NOT_FLUSHED' }]);
    expect(trace!.captured).toMatchObject({ llmCalls: 'full', toolCalls: 'partial' });
  });

  it('spans alone make a trace where model calls are not watched', async () => {
    const { OPENAI_BASE_URL, ...key } = await scripted();
    // Model calls are not captured, so there are only spans.
    const { trace } = await runClient(
      ['traced.ts', 'proto'],
      { OPENAI_BASE_URL, ...key },
      { planes: ['otlp'] },
    );
    expect(rowOf(trace!)).toMatchObject({ llm_calls: 3, agents: ['support'] });
    expect(trace!.captured.toolArgs).not.toBe('none');
  });

  it('the user’s collector gets its copy', async () => {
    const collector = await startChaos((_, response) => void response.end());
    onTestFinished(() => collector.close());
    const env = {
      ...(await scripted()),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `k=${KEY}`,
    };
    const { trace, notes, evidence } = await runClient(['traced.ts', 'proto'], env, PLANES);
    expect(rowOf(trace!).llm_calls).toBe(3);
    expect(notes).toContain('CAPTURE_COLLECTOR');
    expect(collector.requests.map(({ path, headers }) => `${path} ${headers.k}`)).toContain(
      `/v1/traces ${KEY}`,
    );
    expect(JSON.stringify([evidence, trace])).not.toContain(KEY);
  });
});

describe('SDKs that read no address from the environment', () => {
  it.each([
    ['groq', 'GROQ_API_KEY'],
    ['mistral', 'MISTRAL_API_KEY'],
    ['google', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ])('AI SDK with %s', async (provider, key) => {
    const model = await startScriptedModel({ script: REPLIES });
    onTestFinished(() => model.close());
    const root = model.url.replace(/\/v1$/, '');
    const upstreams = {
      [provider === 'google' ? 'gemini' : provider]: provider === 'mistral' ? model.url : root,
    };
    const { answer, trace } = await runClient(
      ['ai-sdk.ts', provider],
      { [key]: KEY },
      { upstreams },
    );
    expect(answer).toBe(ANSWER);
    expect(rowOf(trace!)).toMatchObject({
      tools: [expect.stringMatching(/^get_order/), expect.stringMatching(/^refund/)],
      llm_calls: 3,
      tokens: { input: 460, output: 64 },
    });
    expect(trace!.captured).toMatchObject({ llmCalls: 'full', toolCalls: 'full' });
  });
});
