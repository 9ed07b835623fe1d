import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { scriptedModel, verdictText } from '@agentci/testing/scripted-judge';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, onTestFinished, test } from 'vitest';
import { limitedBudget } from './budget.ts';
import { createJudge } from './create-judge.ts';
import { DEFAULT_ENSEMBLE, type JudgeConfig } from './judge-config.ts';
import { resolveRubric } from './rubric.ts';

const KEY = 'sk-secret-key-of-the-test';
const env = { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY, GEMINI_API_KEY: KEY };
const question = {
  rubric: resolveRubric({ rule: 'is polite' }),
  query: 'Hello?',
  answer: 'Good day to you.',
};
const config = (url: string, rest: JudgeConfig = {}): JudgeConfig => ({
  model: 'anthropic:claude-sonnet-4-5',
  base_url: url,
  env,
  random: () => 0,
  ...rest,
});

describe('every provider is asked in its own words', () => {
  test.each([
    { model: 'anthropic:claude-sonnet-4-5', protocol: 'anthropic', header: 'x-api-key' },
    { model: 'anthropic:claude-3-haiku-20240307', protocol: 'anthropic', header: 'x-api-key' },
    { model: 'openai:gpt-4o-mini', protocol: 'responses', header: 'authorization' },
    { model: 'openai-chat:gpt-4o-mini', protocol: 'chat', header: 'authorization' },
    { model: 'google:gemini-2.5-flash', protocol: 'gemini', header: 'x-goog-api-key' },
    { model: 'openai-compatible:llama3.1:8b', protocol: 'chat', header: undefined },
  ])('$model', async ({ model, protocol, header }) => {
    const server = await scriptedModel((request) =>
      // Models without native structured output get a tool for the verdict.
      request.tools.length > 0
        ? { toolCalls: [{ name: request.tools[0]!, args: JSON.parse(verdictText(4)) }] }
        : { text: verdictText(4), usage: { input: 120, output: 30 } },
    );
    const judge = createJudge(config(server.url, { model }));
    const verdict = await judge.ask(question);
    expect(verdict).toMatchObject({
      score: 4,
      label: 'pass',
      record: { model, cached: false, calls: 1, vote: 0 },
    });
    const [request] = server.requests;
    expect(request).toMatchObject({ protocol, model: model.slice(model.indexOf(':') + 1) });
    expect(request!.system).toContain('is polite');
    expect(request!.messages.at(-1)!.text).toContain('Good day to you.');
    if (header === undefined) expect(JSON.stringify(request!.headers)).not.toContain(KEY);
    else expect(String(request!.headers[header])).toContain(KEY);
    expect(JSON.stringify(verdict)).not.toContain(KEY);
  });

  test('temperature 0 unless the spec says otherwise, and a schema with the rationale first', async () => {
    const server = await scriptedModel([{ text: verdictText(4) }]);
    await createJudge(config(server.url, { model: 'openai-chat:gpt-4o-mini' })).ask(question);
    const body = server.requests[0]!.body as {
      temperature: number;
      response_format: { json_schema: { schema: { properties: object } } };
    };
    expect(body.temperature).toBe(0);
    expect(Object.keys(body.response_format.json_schema.schema.properties)).toEqual([
      'rationale',
      'score',
      'label',
    ]);
  });

  test('what the provider does not honour is kept with the verdict', async () => {
    const server = await scriptedModel([{ text: verdictText(4) }]);
    const verdict = await createJudge(config(server.url, { model: 'openai:gpt-5' })).ask(question);
    expect(verdict.record?.warnings?.join()).toContain('temperature');
  });

  test('structured_output: false sends no schema', async () => {
    const server = await scriptedModel([{ text: verdictText(4) }]);
    const judge = createJudge(config(server.url, { model: 'llama3', structured_output: false }));
    expect(await judge.ask(question)).toMatchObject({ score: 4 });
    expect(server.requests[0]!.body).not.toHaveProperty('response_format');
  });
});

describe('a reply that is not a verdict', () => {
  test('is repaired once, without repeating the bad reply', async () => {
    const server = await scriptedModel([{ text: 'score 5, I promise' }, { text: verdictText(2) }]);
    const judge = createJudge(config(server.url));
    expect(await judge.ask(question)).toMatchObject({ score: 2, record: { calls: 2 } });
    expect(server.requests[1]!.messages.at(-1)!.text).not.toContain('I promise');
  });

  test.each([
    {
      what: 'prose twice',
      script: [{ text: 'five' }, { text: 'five!' }],
      kind: 'invalid',
      calls: 2,
    },
    {
      what: 'a cut-off verdict twice',
      script: [{ text: verdictText(5).slice(0, -9), cutOff: true }],
      kind: 'invalid',
      calls: 2,
    },
    {
      what: 'a score off the scale twice',
      script: [{ text: verdictText(9) }],
      kind: 'invalid',
      calls: 2,
    },
    { what: 'a refusal', script: [{ refusal: 'I cannot judge this.' }], kind: 'refusal', calls: 1 },
    {
      what: 'a body that breaks off',
      script: [{ truncatedBody: true }],
      kind: /infra|provider/,
      calls: 1,
    },
    {
      what: 'JSON of another shape',
      script: [{ wrongSchema: true }],
      kind: /infra|provider/,
      calls: 1,
    },
    {
      what: 'an unknown model',
      script: [{ status: 404, message: 'no such model' }],
      kind: 'provider',
      calls: 1,
    },
    {
      what: 'a key that is refused',
      script: [{ status: 401, message: `bad key ${KEY}` }],
      kind: 'provider',
      calls: 1,
    },
    { what: 'a closed connection', script: [{ hangUp: true }], kind: 'infra', calls: 1 },
  ] as const)('$what: no verdict, nothing stored', async ({ script, kind, calls }) => {
    const server = await scriptedModel(script);
    const cacheDir = tempDir();
    const reply = await createJudge(config(server.url, { cacheDir, retries: 0 })).ask(question);
    expect(reply).toMatchObject({ error: true, record: { calls } });
    expect((reply as { kind: string }).kind).toMatch(kind);
    expect(JSON.stringify(reply)).not.toContain(KEY);
    expect(readdirSync(cacheDir)).toEqual([]);
  });
});

describe('infrastructure', () => {
  test.each([
    { what: 'a 500', fault: { status: 500 } },
    { what: 'a 529', fault: { status: 529 } },
    { what: 'a 429', fault: { status: 429, retryAfter: 0 } },
    { what: 'a hang-up', fault: { hangUp: true as const } },
  ])('retries after $what', async ({ fault }) => {
    const server = await scriptedModel([fault, { text: verdictText(4) }]);
    expect(await createJudge(config(server.url)).ask(question)).toMatchObject({
      score: 4,
      record: { calls: 2 },
    });
  });

  test('Retry-After is honoured, by everybody who asks this provider', async () => {
    const at: number[] = [];
    const server = await scriptedModel(({ index }) => {
      at.push(performance.now());
      return index === 0 ? { status: 429, retryAfter: 1 } : { text: verdictText(4) };
    });
    const judge = createJudge(config(server.url, { limits: { concurrent: 1, perMinute: 600 } }));
    await Promise.all([judge.ask(question), judge.ask({ ...question, answer: 'other' })]);
    expect(at).toHaveLength(3);
    expect(at[1]! - at[0]!).toBeGreaterThan(950);
  });

  test('a slow reply is given up after timeout_ms', async () => {
    const server = await scriptedModel([{ text: verdictText(4), delayMs: 5000 }]);
    const reply = await createJudge(config(server.url, { timeout_ms: 100, retries: 1 })).ask(
      question,
    );
    expect(reply).toMatchObject({ error: true, kind: 'infra', record: { calls: 2 } });
    expect((reply as { message: string }).message).toMatch(/\[INFRA\].*100 ms/);
  });

  test('an interruption ends the waiting at once', async () => {
    const interrupt = new AbortController();
    const server = await scriptedModel(() => {
      setTimeout(() => interrupt.abort(), 20);
      return { text: verdictText(4), delayMs: 5000 };
    });
    const reply = await createJudge(config(server.url, { signal: interrupt.signal })).ask(question);
    expect(reply).toMatchObject({ error: true, kind: 'interrupted' });
  });

  test('no more calls at a time than allowed', async () => {
    let open = 0;
    let most = 0;
    const server = await scriptedModel(async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 30));
      open--;
      return { text: verdictText(4) };
    });
    const judge = createJudge(config(server.url, { limits: { concurrent: 2, perMinute: 600 } }));
    await Promise.all(
      Array.from({ length: 6 }, (_, i) => judge.ask({ ...question, answer: `${i}` })),
    );
    expect(most).toBe(2);
    expect(server.requests).toHaveLength(6);
  });
});

describe('stored verdicts', () => {
  // One server per cache, because another server would be another judge.
  const servers = new Map<string, Awaited<ReturnType<typeof scriptedModel>>>();
  const asked = async (cacheDir: string, rest: JudgeConfig = {}) => {
    const server =
      servers.get(cacheDir) ??
      (await scriptedModel(() => ({ text: verdictText(4), usage: { input: 120, output: 30 } })));
    servers.set(cacheDir, server);
    const before = server.requests.length;
    const judge = createJudge(config(server.url, { cacheDir, ...rest }));
    return {
      reply: await judge.ask(question),
      calls: server.requests.length - before,
      usage: judge.usage!(),
    };
  };
  const fileIn = (dir: string): string =>
    join(
      dir,
      readdirSync(dir, { recursive: true })
        .map(String)
        .find((name) => name.endsWith('.json'))!,
    );

  test('a second run makes no calls and needs no key', async () => {
    const cacheDir = tempDir();
    expect(await asked(cacheDir)).toMatchObject({
      calls: 1,
      usage: { calls: 1, cached: 0, input_tokens: 120, output_tokens: 30 },
    });
    const again = await asked(cacheDir, { env: {}, mode: 'recorded' });
    expect(again).toMatchObject({
      calls: 0,
      reply: {
        score: 4,
        record: { cached: true, calls: 0, cost_usd: 0, raw: verdictText(4), input_tokens: 120 },
      },
      usage: { calls: 0, cached: 1, cost_usd: 0 },
    });
    const stored = JSON.parse(readFileSync(fileIn(cacheDir), 'utf8')) as object;
    expect(stored).toMatchObject({
      schema: 'agentci.verdict/1',
      model: 'anthropic:claude-sonnet-4-5',
      rubric: { id: 'custom' },
      vote: 0,
    });
    expect(JSON.stringify(stored)).not.toContain(KEY);
  });

  test.each([
    { what: 'another model', rest: { model: 'anthropic:claude-opus-4-1' } },
    { what: 'another temperature', rest: { temperature: 1 } },
    { what: 'cache: false', rest: { cache: false } },
  ])('$what asks again', async ({ rest }) => {
    const cacheDir = tempDir();
    await asked(cacheDir);
    expect((await asked(cacheDir, rest)).calls).toBe(1);
  });

  test('the votes of one model are separate verdicts', async () => {
    const server = await scriptedModel([{ text: verdictText(4) }]);
    const model = 'anthropic:claude-sonnet-4-5';
    const judge = createJudge(
      config(server.url, { cacheDir: tempDir(), ensemble: { models: [model, model] } }),
    );
    for (const vote of [1, 2, 1]) await judge.ask({ ...question, vote });
    await judge.ask({ ...question, vote: 1, repeat: 1 });
    expect(server.requests).toHaveLength(3);
  });

  test('equal questions at the same time are one call', async () => {
    const server = await scriptedModel([{ text: verdictText(4), delayMs: 20 }]);
    const judge = createJudge(config(server.url));
    const replies = await Promise.all([judge.ask(question), judge.ask(question)]);
    expect(replies.map(({ record }) => record?.cached)).toEqual([false, true]);
    expect(server.requests).toHaveLength(1);
  });

  test('recorded never calls: a miss is a failure', async () => {
    expect(await asked(tempDir(), { mode: 'recorded' })).toMatchObject({
      calls: 0,
      reply: {
        error: true,
        kind: 'not_recorded',
        message: expect.stringMatching(/^no verdict .* is stored/),
      },
    });
  });

  test.each([
    { what: 'cut off', damage: (text: string) => text.slice(0, 40) },
    { what: 'not a verdict', damage: (text: string) => text.replace('"score": 4', '"score": 40') },
    {
      what: 'about another prompt',
      damage: (text: string) => text.replace(/"prompt_hash": "../, '"prompt_hash": "zz'),
    },
    {
      what: 'another schema',
      damage: (text: string) => text.replace('agentci.verdict/1', 'agentci.verdict/9'),
    },
    { what: 'null', damage: () => 'null' },
  ])('a file that is $what is reported as damaged and judged again', async ({ damage }) => {
    const cacheDir = tempDir();
    await asked(cacheDir);
    const file = fileIn(cacheDir);
    writeFileSync(file, damage(readFileSync(file, 'utf8')));
    expect((await asked(cacheDir, { mode: 'recorded' })).reply).toMatchObject({
      kind: 'not_recorded',
      message: expect.stringMatching(
        /stored verdict file .*\.json is damaged: delete it, or judge again/,
      ),
    });
    expect((await asked(cacheDir)).calls).toBe(1);
  });

  test('a folder that cannot be written costs no verdict', async () => {
    const dir = tempDir({ file: 'in the way' });
    const { reply } = await asked(join(dir, 'file'));
    expect(reply).toMatchObject({ score: 4 });
    expect(reply.record?.warnings?.join()).toContain('not stored');
  });
});

describe('keys and names', () => {
  test.each([
    { model: 'claude-x', rest: {}, says: 'ANTHROPIC_API_KEY' },
    { model: 'gpt-4o', rest: {}, says: 'OPENAI_API_KEY' },
    { model: 'gemini-2.5-pro', rest: {}, says: 'GOOGLE_GENERATIVE_AI_API_KEY or GEMINI_API_KEY' },
    { model: 'gpt-4o', rest: { api_key_env: 'TEAM_KEY' }, says: 'TEAM_KEY' },
    {
      model: 'gpt-4o',
      rest: { api_key_env: 'TEAM_KEY', env: { TEAM_KEY: ' ' } },
      says: 'TEAM_KEY',
    },
  ])('without a key for $model the failure names $says', async ({ model, rest, says }) => {
    const reply = await createJudge({ model, env: {}, ...rest }).ask(question);
    expect(reply).toMatchObject({
      error: true,
      kind: 'no_key',
      message: expect.stringContaining(says),
    });
  });

  test('a model nobody serves is a failure that says how to name one', async () => {
    const reply = await createJudge({ model: 'opus', env }).ask(question);
    expect(reply).toMatchObject({
      error: true,
      kind: 'no_model',
      message: expect.stringContaining('anthropic:'),
    });
  });
});

describe('money', () => {
  test('tokens are priced, and an unknown model costs an unknown amount', async () => {
    const server = await scriptedModel([
      { text: verdictText(4), usage: { input: 1000, output: 100 } },
    ]);
    const priced = createJudge(config(server.url, { model: 'openai:gpt-4o-mini' }));
    const { record } = await priced.ask(question);
    expect(record?.cost_usd).toBeCloseTo((1000 * 0.15 + 100 * 0.6) / 1e6, 9);
    const unknown = createJudge(config(server.url, { model: 'my-own-model' }));
    expect((await unknown.ask(question)).record?.cost_usd).toBeNull();
    expect(unknown.usage!()).toMatchObject({
      cost_usd: null,
      unpriced: ['openai-compatible:my-own-model'],
    });
  });

  test('the call that could exceed the budget is not made', async () => {
    const server = await scriptedModel([
      { text: verdictText(4), usage: { input: 1000, output: 100 } },
    ]);
    // A call may cost up to about $0.0015 and costs $0.0002.
    const judge = createJudge(
      config(server.url, { model: 'openai:gpt-4o-mini', budget: limitedBudget(0.0017) }),
    );
    const replies = [];
    for (const answer of ['a', 'b', 'c', 'd'])
      replies.push(await judge.ask({ ...question, answer }));
    const made = server.requests.length;
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(4);
    expect(replies.at(-1)).toMatchObject({ error: true, kind: 'budget', record: { calls: 0 } });
    expect(judge.usage!().cost_usd).toBeLessThanOrEqual(0.0017);
  });
});

test.each([
  'anthropic:claude-sonnet-4-5',
  'openai:gpt-4o-mini',
  'openai-chat:gpt-4o-mini',
  'google:gemini-2.5-flash',
  'openai-compatible:llama3.1:8b',
])('%s: a redirect is an error that names its target, and no key goes there', async (model) => {
  const other = await scriptedModel([{ text: verdictText(5) }]);
  const server = createServer((_, response) =>
    response.writeHead(307, { location: `${other.url}/v1/x?key=${KEY}` }).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const reply = await createJudge(config(url, { model, retries: 2 })).ask(question);
  expect(reply).toMatchObject({ error: true, kind: 'provider', record: { calls: 1 } });
  expect(JSON.stringify(reply)).toContain(`a redirect to ${other.url}/v1/x, which is not followed`);
  expect(other.requests).toEqual([]);
});

describe('who served a stored verdict', () => {
  test('the same name on another server is another judge, but a trailing slash is not another server', async () => {
    const cacheDir = tempDir();
    const [mild, strict] = [
      await scriptedModel([{ text: verdictText(5) }]),
      await scriptedModel([{ text: verdictText(1) }]),
    ];
    const ask = (url: string, mode: 'live' | 'recorded' = 'live') =>
      createJudge(config(url, { model: 'llama3', cacheDir, mode })).ask(question);
    expect(await ask(mild.url)).toMatchObject({ score: 5 });
    expect(await ask(strict.url)).toMatchObject({ score: 1 });
    expect(await ask(`${mild.url}/`, 'recorded')).toMatchObject({
      score: 5,
      record: { cached: true },
    });
    expect(await ask('http://127.0.0.1:1/v1', 'recorded')).toMatchObject({ kind: 'not_recorded' });
  });

  test('stores the address without possible secrets', async () => {
    const cacheDir = tempDir();
    const server = await scriptedModel([{ text: verdictText(5) }]);
    const url = new URL(server.url);
    url.searchParams.set('key', 'hidden');
    await createJudge(config(url.href, { model: 'llama3', cacheDir })).ask(question);
    const files = readdirSync(cacheDir, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.json'),
    );
    for (const name of files)
      expect(readFileSync(join(cacheDir, name), 'utf8')).not.toContain('hidden');
  });
});

test('an ensemble without names is the three votes of AgentCI 2.0', () => {
  expect(createJudge({ ensemble: { enabled: true } }).ensemble).toEqual({ size: 3, enabled: true });
  expect(DEFAULT_ENSEMBLE).toEqual(['claude-sonnet-4-5-20250929', 'gpt-4o-mini', 'gpt-4o-mini']);
});
