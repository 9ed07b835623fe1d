import { afterEach, describe, expect, test } from 'vitest';
import { type ScriptedModel, type ScriptedReply, startScriptedModel } from '../../../scripted-model/src/index.ts';
import { tempDir } from '../../test/support/temp-dir.ts';
import { interpretOutput } from '../engine/interpret-output.ts';
import { totals } from '../trace/totals.ts';
import { createModelRunner } from './model.ts';

const open: ScriptedModel[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((model) => model.close()));
});

async function setUp(script: readonly ScriptedReply[], config: object = {}, files: Record<string, string> = {}) {
  const model = await startScriptedModel({ script });
  open.push(model);
  const runner = createModelRunner(
    { kind: 'model', model: 'openai-chat:gpt-4o-mini', baseUrl: model.url, apiKeyEnv: 'MY_KEY', ...config },
    { dir: tempDir(files), env: { MY_KEY: 'k' }, timeoutMs: 3000, workers: 1 },
  );
  const run = (query: string, vars?: Record<string, unknown>) =>
    runner.run({ query, id: 'q', run: 1, signal: AbortSignal.timeout(3000), ...(vars === undefined ? {} : { vars }) });
  const sent = () => (model.requests.at(-1) as unknown as { messages: unknown }).messages ?? model.requests.at(-1);
  return { run, sent, model };
}
const reply = { text: 'Bonjour', usage: { input: 12, output: 3 } } as unknown as ScriptedReply;

test('the answer, the tokens and the cost become the trace; there were no tool calls', async () => {
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

test.each(['openai-chat:gpt-4o-mini', 'openai:gpt-4o-mini', 'anthropic:claude-sonnet-4-5', 'google:gemini-2.5-flash'])(
  'tool calls in the reply of %s are kept, and what it said before them is not an answer',
  async (model) => {
    for (const text of ['Let me look.', '']) {
      const asked = { text, toolCalls: [{ name: 'delete_all', args: { id: 7 } }] } as unknown as ScriptedReply;
      const { run } = await setUp([asked], { model });
      const trace = await interpretOutput(await run('hello'), { id: 'q', query: 'hello' });
      expect(trace.final).toBeUndefined();
      expect(trace.status).toBe('incomplete');
      expect(trace.steps.filter(({ kind }) => kind === 'tool')).toMatchObject([
        { name: 'delete_all', args: { id: 7 } },
      ]);
      expect(trace.warnings).toMatchObject([{ code: 'MODEL_ASKED_FOR_TOOLS', message: expect.stringContaining(text) }]);
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
    const { run, model } = await setUp([reply], { prompt: './system.md' }, { 'system.md': 'You are terse.' });
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
    { when: 'is outside the folder', prompt: '../../../../etc/passwd', message: /outside|does not exist/ },
  ])('that $when is an error of the query', async ({ prompt, message }) => {
    const { run } = await setUp([reply], { prompt });
    await expect(run('hello')).rejects.toMatchObject({ name: 'AgentError', message: expect.stringMatching(message) });
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
