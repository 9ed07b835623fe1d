import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startScriptedModel } from '@agentci/scripted-model';
import type { RunnerConfig } from '@agentci/spec';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterEach, expect, test } from 'vitest';
import { createRunner } from './create-runner.ts';
import type { ChatMessage, Runner, RunRequest } from './runner.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function start(
  config: Exclude<RunnerConfig, { kind: 'replay' }>,
  files: Record<string, string> = {},
): Promise<Runner> {
  const around = {
    dir: tempDir(files),
    env: { ...process.env, MY_KEY: 'k' },
    timeoutMs: 5000,
    workers: 2,
  };
  const runner = await createRunner(config, around);
  open.push(runner.close);
  return runner;
}

/** The turns of one conversation with the answers of the agent. */
async function talk(
  runner: Runner,
  messages: readonly string[],
  isStateful = false,
): Promise<unknown[]> {
  const session =
    runner.open === undefined ? { run: runner.run, close: async () => {} } : await runner.open();
  const history: ChatMessage[] = [];
  const answers: unknown[] = [];
  for (const [i, message] of messages.entries()) {
    history.push({ role: 'user', content: message });
    const turn = {
      conversation: 'c1',
      turn: i + 1,
      message,
      ...(isStateful ? {} : { messages: [...history] }),
    };
    const request: RunRequest = {
      query: messages[0]!,
      id: 'q',
      run: 1,
      turn,
      signal: AbortSignal.timeout(5000),
    };
    const { value } = await session.run(request);
    answers.push(value);
    history.push({ role: 'assistant', content: String(value) });
  }
  await session.close();
  return answers;
}

test('a module has an object for each conversation, also when conversations share a thread', async () => {
  const runner = await start(
    { kind: 'module', module: 'agent.mjs', export: 'default' },
    {
      'agent.mjs':
        'export default (message, { state, turn, messages, query }) => { state.n = (state.n ?? 0) + 1; return `${message} ${query} ${turn} ${state.n} ${messages.length}`; };',
    },
  );
  expect(await talk(runner, ['a', 'b'])).toEqual(['a a 1 1 1', 'b a 2 2 3']);
  expect(await talk(runner, ['c'])).toEqual(['c c 1 1 1']);
});

test('a command is started again with all messages', async () => {
  const runner = await start(
    { kind: 'command', command: ['node', 'agent.cjs'] },
    {
      'agent.cjs':
        'const given = JSON.parse(require("node:fs").readFileSync(0, "utf8")); console.log(given.messages.map((m) => m.content).join("|") + " " + given.turn + " " + given.conversation);',
    },
  );
  const [first, second] = await talk(runner, ['a', 'b']);
  expect(String(first).trim()).toBe('a 1 c1');
  expect(String(second).trim()).toBe(`a|${first}|b 2 c1`);
});

test('a program that stays up gets one line for each turn, and keeps what it wants', async () => {
  const runner = await start(
    { kind: 'command', command: ['node', 'agent.cjs'], mode: 'serve' },
    {
      'agent.cjs': `let said = [];
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { message, messages, turn } = JSON.parse(line);
  if (turn === 1) said = [];
  said.push(message);
  console.log(JSON.stringify(process.pid + ' ' + said.join(',') + ' ' + (messages === undefined)));
});`,
    },
  );
  const [first, second] = (await talk(runner, ['a', 'b'], true)).map((answer) =>
    String(answer).split(' '),
  );
  expect(first).toEqual([second![0], 'a', 'true']);
  expect(second!.slice(1)).toEqual(['a,b', 'true']);
});

test('an agent behind HTTP gets what its body names, and its cookies back', async () => {
  const seen: { body: unknown; cookie: string | undefined }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ body: JSON.parse(body), cookie: request.headers.cookie });
    response.setHeader('set-cookie', [
      `session=${seen.length}; Path=/; HttpOnly; Secure`,
      'gone=1; Max-Age=0',
    ]);
    response.end('"fine"');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(async () => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const runner = await start({
    kind: 'http',
    http: {
      url,
      method: 'POST',
      headers: {},
      body: { history: '{{messages}}', text: 'says {{message}}', id: '{{conversation}}' },
    },
  });
  await talk(runner, ['a', 'b']);
  await talk(runner, ['c']);
  expect(seen).toMatchObject([
    {
      body: { history: [{ role: 'user', content: 'a' }], text: 'says a', id: 'c1' },
      cookie: undefined,
    },
    {
      body: { history: [{}, { role: 'assistant' }, { content: 'b' }], text: 'says b' },
      cookie: 'session=1',
    },
    { body: { text: 'says c' }, cookie: undefined },
  ]);
});

test('a query on its own is a conversation of one message to an agent behind HTTP', async () => {
  const bodies: unknown[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(JSON.parse(body));
    response.end('"fine"');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push(async () => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const runner = await start({
    kind: 'http',
    http: { url, method: 'POST', headers: {}, body: { m: '{{messages}}' } },
  });
  await runner.run({ query: 'hi', id: 'q', run: 1, signal: AbortSignal.timeout(5000) });
  expect(bodies).toEqual([{ m: [{ role: 'user', content: 'hi' }] }]);
});

test('a model as the agent is sent the whole conversation', async () => {
  const model = await startScriptedModel({ script: [{ text: 'one' }, { text: 'two' }] });
  open.push(() => model.close());
  const runner = await start({
    kind: 'model',
    model: 'openai-chat:gpt-4o-mini',
    baseUrl: model.url,
    apiKeyEnv: 'MY_KEY',
    prompt: 'You are terse.',
  });
  const session = { messages: ['hello', 'and you?'] };
  const history: ChatMessage[] = [];
  for (const [i, message] of session.messages.entries()) {
    history.push({ role: 'user', content: message });
    await runner.run({
      query: 'hello',
      id: 'q',
      run: 1,
      turn: { conversation: 'c', turn: i + 1, message, messages: [...history] },
      signal: AbortSignal.timeout(5000),
    });
    history.push({ role: 'assistant', content: 'one' });
  }
  const sent = JSON.stringify(model.requests.at(-1));
  for (const text of ['You are terse.', 'hello', 'one', 'and you?']) expect(sent).toContain(text);
  expect(sent.indexOf('hello')).toBeLessThan(sent.indexOf('and you?'));
});
