import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type ScriptedModel, startScriptedModel } from '@agentci/scripted-model';
import { otlp } from '@agentci/testing/otlp';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { cli } from '../support/cli.ts';

const KEY = 'sk-test-0123456789abcdefghij';

/**
 * Calls the model once, and sends spans like an SDK to the address in its variables, without
 * knowing AgentCI.
 */
const AGENT = `
const hex = (bytes) => [...crypto.getRandomValues(new Uint8Array(bytes))].map((b) => b.toString(16).padStart(2, '0')).join('');
const attribute = ([key, value]) => ({ key, value: { stringValue: value } });
export async function answer() {
  const traceId = hex(16);
  const began = Date.now();
  const reply = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'How deep?' }] }),
  });
  const { id, choices } = await reply.json();
  const span = (name, attributes) => ({
    traceId, spanId: hex(8), name, kind: 1,
    startTimeUnixNano: began + '000000', endTimeUnixNano: Date.now() + '000000',
    attributes: Object.entries(attributes).map(attribute), status: {},
  });
  const spans = [
    span('chat', { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o-mini', 'gen_ai.response.id': id }),
    span('execute_tool dig', { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'dig' }),
  ];
  await fetch(process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resourceSpans: [{ resource: {}, scopeSpans: [{ scope: { name: 'well' }, spans }] }] }),
  });
  return choices[0].message.content;
}
`;
const COMMAND = `import { answer } from './agent.mjs'; console.log(await answer());`;
const MODULE = `import { answer } from './agent.mjs'; export default answer;`;
const files = { 'agent.mjs': AGENT, 'main.mjs': COMMAND, 'module.mjs': MODULE };

let model: ScriptedModel;
let env: Record<string, string>;
beforeAll(async () => {
  model = await startScriptedModel({
    script: () => ({ text: '11 metres', usage: { input: 10, output: 5 } }),
  });
  env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.url };
});
afterAll(() => model.close());

describe('a tool that only spans tell of', () => {
  it.each([
    ['command', { command: ['node', 'main.mjs'], capture: 'auto' }],
    ['module', { module: './module.mjs', capture: 'auto' }],
    [
      'command, spans and calls by name',
      { command: ['node', 'main.mjs'], capture: ['llm', 'otlp'] },
    ],
  ])('is judged: %s', async (_, runner) => {
    const queries = ['a', 'b', 'c'].map((id) => ({
      id,
      query: `How deep is ${id}?`,
      path: { forbidden_tools: ['dig'], max_tool_calls: 1 },
      cost: { max_llm_calls: 1, max_total_tokens: 15 },
    }));
    const cwd = tempDir({
      ...files,
      'agentci_spec.yaml': JSON.stringify({ agent: 'well', runner, queries }),
    });
    const { code, stdout } = await cli(['test', '-f', 'json', '-w', '2'], { cwd, env });
    const { results } = JSON.parse(stdout);
    expect(code).toBe(1);
    expect(results).toHaveLength(3);
    for (const result of results)
      expect(result).toMatchObject({
        warnings: [],
        path: {
          status: 'fail',
          details: { tool_calls: { actual: 1 }, forbidden_tools: { violations: ['dig'] } },
        },
        cost: { status: 'pass', details: { actual: { llm_calls: 1, total_tokens: 15 } } },
      });
  });
});

/** A service that continues the trace of a request and exports its spans. */
async function startService(continues: boolean) {
  const freed = createServer().listen(0, '127.0.0.1');
  await once(freed, 'listening');
  const { port } = freed.address() as AddressInfo;
  freed.close();
  const server = createServer(async (request, response) => {
    const [, traceId, parentSpanId] = String(request.headers.traceparent).split('-');
    let body = '';
    for await (const chunk of request) body += chunk;
    const { query } = JSON.parse(body);
    const { resourceSpans } = otlp([
      {
        id: 'agent',
        attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'well' },
      },
      {
        id: 'tool',
        parent: 'agent',
        attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': query },
      },
    ]);
    const at = `${Date.now()}000000`;
    for (const span of resourceSpans[0]!.scopeSpans[0]!.spans) {
      Object.assign(span, { startTimeUnixNano: at, endTimeUnixNano: at });
      if (continues)
        Object.assign(span, { traceId }, span.name === 'agent' ? { parentSpanId } : {});
    }
    await fetch(`http://127.0.0.1:${port}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ resourceSpans }),
    });
    response.end(JSON.stringify({ answer: 'fine' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, port };
}

describe('an agent behind HTTP', () => {
  const queries = ['dig', 'fill', 'measure'].map((id) => ({
    id,
    query: id,
    path: { forbidden_tools: ['dig'] },
  }));

  it.each([
    [
      'spans that continue the trace of a query are its own, also side by side',
      true,
      ['fail', 'pass', 'pass'],
      1,
    ],
    ['other spans are not attributable: could not tell', false, ['error', 'error', 'error'], 2],
  ])('%s', async (_, continues, expected, exit) => {
    const { url, port } = await startService(continues);
    const runner = { http: { url, answer: '/answer' }, capture: { otlp: `127.0.0.1:${port}` } };
    const cwd = tempDir({
      'agentci_spec.yaml': JSON.stringify({ agent: 'well', runner, queries }),
    });
    const { code, stdout } = await cli(['test', '-f', 'json', '-w', '3'], { cwd });
    const { results } = JSON.parse(stdout) as { results: { path: { status: string } }[] };
    expect(results.map(({ path }) => path.status)).toEqual(expected);
    expect(code).toBe(exit);
    if (!continues) expect(stdout).toContain('CAPTURE_NOT_ATTRIBUTABLE');
  });

  it('a used port is reported in one sentence, before any query is sent', async () => {
    let asked = 0;
    const server = createServer((_, response) => {
      asked++;
      response.end('fine');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const runner = {
      http: { url: `http://127.0.0.1:${port}` },
      capture: { otlp: `localhost:${port}` },
    };
    const cwd = tempDir({
      'agentci_spec.yaml': JSON.stringify({ agent: 'well', runner, queries }),
    });
    const { code, stderr } = await cli(['test'], { cwd });
    expect([code, asked]).toEqual([2, 0]);
    expect(stderr).toContain(
      `spans cannot be received on 127.0.0.1:${port}: another program uses this port [PORT_TAKEN]`,
    );
  });

  it('a header of one’s own would take the attribution away: it is refused, and the port is free again', async () => {
    const { url, port } = await startService(true);
    const headers = { traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` };
    const runner = { http: { url, headers }, capture: { otlp: `127.0.0.1:${port}` } };
    const cwd = tempDir({
      'agentci_spec.yaml': JSON.stringify({ agent: 'well', runner, queries }),
    });
    const { code, stderr } = await cli(['test'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('SPEC_VALUE');
  });

  it('a silent service: its answers are judged, its path is unknown', async () => {
    const server = createServer(
      (_, response) => void response.end(JSON.stringify({ answer: 'fine' })),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = await startService(true);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const runner = { http: { url, answer: '/answer' }, capture: { otlp: `127.0.0.1:${port}` } };
    const query = {
      id: 'q',
      query: 'q',
      correctness: { expected_in_answer: ['fine'] },
      path: { forbidden_tools: ['dig'] },
    };
    const cwd = tempDir({
      'agentci_spec.yaml': JSON.stringify({ agent: 'well', runner, queries: [query] }),
    });
    const { code, stdout } = await cli(['test', '-f', 'json'], { cwd });
    expect(code).toBe(2);
    expect(JSON.parse(stdout).results[0]).toMatchObject({
      correctness: { status: 'pass' },
      path: { status: 'error' },
      warnings: [
        {
          code: 'CAPTURE_NOTHING',
          message: expect.stringContaining('OTEL_BSP_SCHEDULE_DELAY=200'),
        },
      ],
    });
  });
});

describe('agentci capture', () => {
  it('keeps the spans next to the exchanges, and reads them again without the recorder', async () => {
    const cwd = tempDir(files);
    const { code, stderr } = await cli(['capture', '--out', 'seen', '--', 'node', 'main.mjs'], {
      cwd,
      env,
    });
    expect(code).toBe(0);
    expect(stderr).toContain('1 tool call: dig');
    const line = readFileSync(join(cwd, 'seen', 'otlp.jsonl'), 'utf8');
    expect(JSON.parse(line).resourceSpans[0].scopeSpans[0].spans).toHaveLength(2);
    const about = JSON.parse(readFileSync(join(cwd, 'seen', 'capture.json'), 'utf8'));
    expect(about).toMatchObject({
      planes: { llm: { calls: 1 }, otlp: { spans: 2, requests: 1 }, witness: { hosts: [] } },
      captured: { llmCalls: 'full', toolCalls: 'full' },
    });
    const again = await cli(['import', 'seen/otlp.jsonl', '--json'], { cwd });
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('dig')]);
  });

  it('knows of a model that was reached past it', async () => {
    const cwd = tempDir({
      ...files,
      // A custom client that respects proxies, like those of Python and Go.
      'past.mjs': `import net from 'node:net'; import { answer } from './agent.mjs';
        const text = await answer();
        const proxy = new URL(process.env.HTTPS_PROXY);
        const socket = net.connect(proxy.port, proxy.hostname);
        const auth = Buffer.from(proxy.username + ':' + proxy.password).toString('base64');
        const { host } = new URL(process.env.PAST);
        socket.write('CONNECT ' + host + ' HTTP/1.1\\r\\nhost: ' + host + '\\r\\nproxy-authorization: Basic ' + auth + '\\r\\n\\r\\n');
        socket.once('data', () => { socket.destroy(); console.log(text); });`,
    });
    const given = { ...env, PAST: model.url };
    const { code, stderr } = await cli(['capture', '--out', 'seen', '--', 'node', 'past.mjs'], {
      cwd,
      env: given,
    });
    expect(code).toBe(0);
    expect(stderr).toContain('MODEL_HOST_TUNNELLED');
    const { captured } = JSON.parse(readFileSync(join(cwd, 'seen', 'capture.json'), 'utf8'));
    expect(captured).toMatchObject({ llmCalls: 'partial', toolCalls: 'partial' });
  });

  it('writes no key, not even that of a collector', async () => {
    const cwd = tempDir(files);
    const given = {
      ...env,
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://127.0.0.1:1/v1/logs',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=collector-secret-0123456789',
      HTTPS_PROXY: 'http://ann:proxy-secret-0123456789@127.0.0.1:1',
    };
    const { stderr } = await cli(['capture', '--out', 'seen', '--', 'node', 'main.mjs'], {
      cwd,
      env: given,
    });
    const written = ['exchanges.jsonl', 'otlp.jsonl', 'traces.jsonl', 'capture.json'].map((name) =>
      readFileSync(join(cwd, 'seen', name), 'utf8'),
    );
    for (const secret of [KEY, 'collector-secret', 'proxy-secret'])
      expect(`${stderr}${written.join('')}`).not.toContain(secret);
  });
});
