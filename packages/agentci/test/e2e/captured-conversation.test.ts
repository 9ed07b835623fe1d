import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

// An agent that keeps its history sends all of it with every request. The calls of one turn appear
// again in later turns and must count once.

/**
 * Requests a tool if the user says "tool NAME", in the format of three providers. Otherwise
 * answers.
 */
function reply(
  path: string,
  body: { messages?: unknown[]; input?: unknown[] },
  id: string,
): object {
  const last = (body.messages ?? body.input ?? []).at(-1) as { role?: string; content?: unknown };
  const text = typeof last.content === 'string' && last.role === 'user' ? last.content : '';
  const name = /^tool (\w+)/.exec(text)?.[1];
  if (path.endsWith('/messages'))
    return {
      id,
      type: 'message',
      role: 'assistant',
      model: 'claude-haiku-4-5',
      content:
        name === undefined
          ? [{ type: 'text', text: 'done' }]
          : [{ type: 'tool_use', id: `c-${id}`, name, input: {} }],
      stop_reason: name === undefined ? 'end_turn' : 'tool_use',
      usage: { input_tokens: 100, output_tokens: 10 },
    };
  if (path.endsWith('/responses'))
    return {
      id,
      object: 'response',
      status: 'completed',
      model: 'gpt-4o-mini',
      output: [
        name === undefined
          ? { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] }
          : { type: 'function_call', call_id: `c-${id}`, name, arguments: '{}' },
      ],
      usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
    };
  const call = { id: `c-${id}`, type: 'function', function: { name, arguments: '{}' } };
  const message =
    name === undefined
      ? { role: 'assistant', content: 'done' }
      : { role: 'assistant', content: null, tool_calls: [call] };
  return {
    id,
    object: 'chat.completion',
    model: 'gpt-4o-mini',
    choices: [{ index: 0, message, finish_reason: name === undefined ? 'stop' : 'tool_calls' }],
    usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
  };
}

const AGENTS = {
  chat: `
export default async (message, { state }) => {
  const history = (state.history ??= [{ role: 'system', content: 'Shop.' }]);
  history.push({ role: 'user', content: message });
  for (;;) {
    const { choices } = await ask(process.env.OPENAI_BASE_URL + '/chat/completions', { model: 'gpt-4o-mini', messages: history });
    const said = choices[0].message;
    history.push(said);
    if (!said.tool_calls) return said.content;
    for (const { id } of said.tool_calls) history.push({ role: 'tool', tool_call_id: id, content: 'found' });
  }
};`,
  responses: `
export default async (message, { state }) => {
  const history = (state.history ??= []);
  history.push({ role: 'user', content: message });
  for (;;) {
    const { output } = await ask(process.env.OPENAI_BASE_URL + '/responses', { model: 'gpt-4o-mini', input: history });
    history.push(...output);
    const calls = output.filter(({ type }) => type === 'function_call');
    if (calls.length === 0) return output[0].content[0].text;
    for (const { call_id } of calls) history.push({ type: 'function_call_output', call_id, output: 'found' });
  }
};`,
  anthropic: `
export default async (message, { state }) => {
  const history = (state.history ??= []);
  history.push({ role: 'user', content: message });
  for (;;) {
    const { content } = await ask(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { model: 'claude-haiku-4-5', max_tokens: 99, messages: history });
    history.push({ role: 'assistant', content });
    const calls = content.filter(({ type }) => type === 'tool_use');
    if (calls.length === 0) return content[0].text;
    history.push({ role: 'user', content: calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: 'found' })) });
  }
};`,
};
const ASK = `
const ask = async (url, body) => {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer k', 'x-api-key': 'k', 'anthropic-version': '2023-06-01' };
  return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
};`;

const CONVERSATION =
  'conversation: {start: tool lookup, user: {script: [hello, tool refund, bye]}, session: stateful}';
const HOLDS = `
agent: shop
runner: {module: ./agent.mjs, capture: auto, retries: 0}
queries:
  - id: counted-once
    ${CONVERSATION}
    turns:
      - {turn: 1, path: {expected_tools: [lookup], max_tool_calls: 1, severity: fail}, cost: {max_llm_calls: 2, severity: fail}}
      - {turn: 2, path: {forbidden_tools: ["*"]}, cost: {max_llm_calls: 1, severity: fail}}
      - {turn: 3, path: {expected_tools: [refund], match_mode: strict, severity: fail}}
      - {turn: 4, path: {forbidden_tools: ["*"]}}
    path: {expected_tools: [lookup, refund], match_mode: strict, max_tool_calls: 2, severity: fail}
    cost: {max_llm_calls: 6, max_total_tokens: 660, severity: fail}
`;
const BREAKS = `
agent: shop
runner: {module: ./agent.mjs, capture: auto, retries: 0}
queries:
  - id: second-turn
    ${CONVERSATION}
    turns: [{turn: 2, path: {expected_tools: [lookup], severity: fail}}]
  - id: twice
    ${CONVERSATION}
    path: {expected_tool_sequence: [lookup, lookup], severity: fail}
`;

let server: Server;
let env: Record<string, string>;
beforeAll(async () => {
  let count = 0;
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify(
          reply(request.url ?? '', JSON.parse(Buffer.concat(chunks).toString()), `r${++count}`),
        ),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  env = {
    OPENAI_BASE_URL: `${origin}/v1`,
    ANTHROPIC_BASE_URL: origin,
    OPENAI_API_KEY: 'not-a-key',
    ANTHROPIC_API_KEY: 'not-a-key',
  };
});
afterAll(() => server.close());

describe.each(Object.keys(AGENTS) as (keyof typeof AGENTS)[])(
  'an agent that resends its history, %s',
  (kind) => {
    const project = (spec: string) =>
      tempDir({ 'agent.mjs': `${ASK}${AGENTS[kind]}`, 'agentci_spec.yaml': spec });

    test('has the calls of each turn in that turn, and once in the whole', async () => {
      const { code, stdout, stderr } = await cli(['test'], { cwd: project(HOLDS), env });
      expect(`${stdout}${stderr}`).not.toMatch(/MISSING|not known/);
      expect(code, stdout).toBe(0);
    });

    test('has made no call again that it only remembers', async () => {
      const { code, stdout } = await cli(['test', '-f', 'json'], { cwd: project(BREAKS), env });
      expect(code).toBe(1);
      const { results } = JSON.parse(stdout) as { results: { status: string }[] };
      expect(results.map(({ status }) => status)).toEqual(['fail', 'fail']);
    });

    test('is counted the same from a cassette', async () => {
      const cwd = project(HOLDS);
      const recorded = await cli(['test', '--cassette', 'record'], { cwd, env });
      expect(recorded.code, recorded.stdout).toBe(0);
      const replayed = await cli(['test', '--cassette', 'replay'], { cwd, env: { CI: '1' } });
      expect(replayed.code, `${replayed.stdout}${replayed.stderr}`).toBe(0);
    });
  },
);
