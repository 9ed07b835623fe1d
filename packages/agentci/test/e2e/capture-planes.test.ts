import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedModel, startScriptedModel } from '../../../scripted-model/src/index.ts';
import { cli } from '../support/cli.ts';
import { tempDir } from '../support/temp-dir.ts';

const KEY = 'sk-test-0123456789abcdefghij';

/** Asks the model once, and sends spans by hand as an SDK would: to where the variables say, with nothing about AgentCI. */
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
  model = await startScriptedModel({ script: () => ({ text: '11 metres', usage: { input: 10, output: 5 } }) });
  env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.url };
});
afterAll(() => model.close());

describe('a tool that only spans tell of', () => {
  it.each([
    ['command', { command: ['node', 'main.mjs'], capture: 'auto' }],
    ['module', { module: './module.mjs', capture: 'auto' }],
    ['command, spans and calls by name', { command: ['node', 'main.mjs'], capture: ['llm', 'otlp'] }],
  ])('is judged: %s', async (_, runner) => {
    const queries = ['a', 'b', 'c'].map((id) => ({
      id,
      query: `How deep is ${id}?`,
      path: { forbidden_tools: ['dig'], max_tool_calls: 1 },
      cost: { max_llm_calls: 1, max_total_tokens: 15 },
    }));
    const cwd = tempDir({ ...files, 'agentci_spec.yaml': JSON.stringify({ agent: 'well', runner, queries }) });
    const { code, stdout } = await cli(['test', '-f', 'json', '-w', '2'], { cwd, env });
    const { results } = JSON.parse(stdout);
    expect(code).toBe(1);
    expect(results).toHaveLength(3);
    for (const result of results)
      expect(result).toMatchObject({
        warnings: [],
        path: { status: 'fail', details: { tool_calls: { actual: 1 }, forbidden_tools: { violations: ['dig'] } } },
        cost: { status: 'pass', details: { actual: { llm_calls: 1, total_tokens: 15 } } },
      });
  });
});

describe('agentci capture', () => {
  it('keeps the spans beside the exchanges, and reads them again without the recorder', async () => {
    const cwd = tempDir(files);
    const { code, stderr } = await cli(['capture', '--out', 'seen', '--', 'node', 'main.mjs'], { cwd, env });
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
      // A client of its own that honours proxies, as Python's and Go's do.
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
    const { code, stderr } = await cli(['capture', '--out', 'seen', '--', 'node', 'past.mjs'], { cwd, env: given });
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
    const { stderr } = await cli(['capture', '--out', 'seen', '--', 'node', 'main.mjs'], { cwd, env: given });
    const written = ['exchanges.jsonl', 'otlp.jsonl', 'traces.jsonl', 'capture.json'].map((name) =>
      readFileSync(join(cwd, 'seen', name), 'utf8'),
    );
    for (const secret of [KEY, 'collector-secret', 'proxy-secret'])
      expect(`${stderr}${written.join('')}`).not.toContain(secret);
  });
});
