import { createServer } from 'node:http';
import {
  type ScriptedModel,
  type ScriptedReply,
  startScriptedModel,
} from '@agentci/scripted-model';
import { tempDir } from '@agentci/testing/temp-dir';
import { totals } from '@agentci/trace';
import { afterEach, describe, expect, test } from 'vitest';
import { interpretOutput } from '../run/interpret-output.ts';
import { createModelRunner } from './model.ts';

const open: ScriptedModel[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((model) => model.close()));
});

async function setUp(
  script: readonly ScriptedReply[],
  config: object = {},
  files: Record<string, string> = {},
) {
  const model = await startScriptedModel({ script });
  open.push(model);
  const runner = createModelRunner(
    {
      kind: 'model',
      model: 'openai-chat:gpt-4o-mini',
      baseUrl: model.url,
      apiKeyEnv: 'MY_KEY',
      ...config,
    },
    { dir: tempDir(files), env: { MY_KEY: 'k' }, timeoutMs: 3000, workers: 1 },
  );
  const run = (query: string, vars?: Record<string, unknown>) =>
    runner.run({
      query,
      id: 'q',
      run: 1,
      signal: AbortSignal.timeout(3000),
      ...(vars === undefined ? {} : { vars }),
    });
  const sent = () =>
    (model.requests.at(-1) as unknown as { messages: unknown }).messages ?? model.requests.at(-1);
  return { run, sent, model };
}
const reply = { text: 'Bonjour', usage: { input: 12, output: 3 } } as unknown as ScriptedReply;

test('the answer, the tokens and the cost become the trace, without tool calls', async () => {
  const { run } = await setUp([reply]);
  const trace = await interpretOutput(await run('hello'), { id: 'q', query: 'hello' });
  expect(trace.final?.text).toBe('Bonjour');
  expect(trace.captured).toMatchObject({ toolCalls: 'full', llmCalls: 'full' });
  const { totalTokens, toolCalls, llmCalls } = totals(trace);
  expect({ totalTokens, toolCalls, llmCalls }).toMatchObject({
    totalTokens: { exact: true },
    toolCalls: { exact: true, value: 0 },
    llmCalls: { exact: true, value: 1 },
  });
});

test.each([
  'openai-chat:gpt-4o-mini',
  'openai:gpt-4o-mini',
  'anthropic:claude-sonnet-4-5',
  'google:gemini-2.5-flash',
])(
  'tool calls in the reply of %s are kept, and what it said before them is not an answer',
  async (model) => {
    for (const text of ['Let me look.', '']) {
      const asked = {
        text,
        toolCalls: [{ name: 'delete_all', args: { id: 7 } }],
      } as unknown as ScriptedReply;
      const { run } = await setUp([asked], { model });
      const trace = await interpretOutput(await run('hello'), { id: 'q', query: 'hello' });
      expect(trace.final).toBeUndefined();
      expect(trace.status).toBe('incomplete');
      expect(trace.steps.filter(({ kind }) => kind === 'tool')).toMatchObject([
        { name: 'delete_all', args: { id: 7 } },
      ]);
      expect(trace.warnings).toMatchObject([
        { code: 'MODEL_ASKED_FOR_TOOLS', message: expect.stringContaining(text) },
      ]);
    }
  },
);

describe('the prompt', () => {
  const shown = (model: ScriptedModel): string => JSON.stringify(model.requests.at(-1));
  test('with {{query}} in it is the whole message', async () => {
    const { run, model } = await setUp([reply], { prompt: 'Translate into French: {{query}}' });
    await run('hello');
    expect(shown(model)).toContain('Translate into French: hello');
  });

  test('without it is the system part, and the query follows', async () => {
    const { run, model } = await setUp(
      [reply],
      { prompt: './system.md' },
      { 'system.md': 'You are terse.' },
    );
    await run('hello');
    expect(shown(model)).toContain('You are terse.');
    expect(shown(model)).toContain('"hello"');
  });

  test('takes variables, in its text and in its name', async () => {
    const { run, model } = await setUp(
      [reply],
      { prompt: 'prompts/{{lang}}.md' },
      { 'prompts/fr.md': 'In {{lang}}: {{query}}' },
    );
    await run('hello', { lang: 'fr' });
    expect(shown(model)).toContain('In fr: hello');
  });

  test.each([
    { when: 'is not there', prompt: './nowhere.md', message: /does not exist/ },
    {
      when: 'is outside the folder',
      prompt: '../../../../etc/passwd',
      message: /outside|does not exist/,
    },
  ])('that $when is an error of the query', async ({ prompt, message }) => {
    const { run } = await setUp([reply], { prompt });
    await expect(run('hello')).rejects.toMatchObject({
      name: 'AgentError',
      message: expect.stringMatching(message),
    });
  });
});

test('without a key the run is refused, and the variable is named', async () => {
  const { run } = await setUp([reply], { apiKeyEnv: 'OTHER_KEY' });
  await expect(run('hello')).rejects.toMatchObject({
    code: 'RUNNER_ENV_MISSING',
    message: expect.stringContaining('OTHER_KEY'),
  });
});

test('a server that is down is worth another try, and a key is never printed', async () => {
  const { run, model } = await setUp([reply]);
  await model.close();
  open.length = 0;
  const error = await run('hello').catch((thrown: unknown) => thrown as Error & { kind: string });
  expect(error).toMatchObject({ name: 'AgentError', kind: 'infra' });
});

describe('a server that does not speak the protocol of the model', () => {
  const answering = async (status: number, body: string) => {
    const server = createServer((_, response) => {
      response.writeHead(status, {
        'content-type': body.startsWith('{') ? 'application/json' : 'text/html',
      });
      response.end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    return { url: `http://127.0.0.1:${port}/v1`, close: () => server.close() };
  };
  const chat = JSON.stringify({
    id: 'c',
    object: 'chat.completion',
    choices: [{ message: { content: 'hi' } }],
  });

  test.each([
    {
      what: 'a chat completion',
      status: 200,
      body: chat,
      says: [/HTTP 200/, /chat\.completion/, /openai-chat:gpt-4o-mini/],
    },
    {
      what: 'a page',
      status: 200,
      body: '<html>hello</html>',
      says: [/<html>hello/, /openai-chat:gpt-4o-mini/],
    },
    { what: 'nothing', status: 200, body: '', says: [/empty body/, /openai-chat:gpt-4o-mini/] },
    {
      what: 'that it does not know the path',
      status: 404,
      body: '{"error": "no route"}',
      says: [/HTTP 404/, /openai-chat:gpt-4o-mini/],
    },
  ])(
    'that answers $what: the message says what it answered, and the way out',
    async ({ status, body, says }) => {
      const server = await answering(status, body);
      const { run } = await setUp([], { model: 'openai:gpt-4o-mini', baseUrl: server.url });
      const error: Error = await run('hello').then(
        () => new Error('it answered'),
        (thrown: Error) => thrown,
      );
      server.close();
      for (const words of says) expect(error.message).toMatch(words);
      expect(error.message).not.toMatch(/Invalid JSON/);
    },
  );
});
