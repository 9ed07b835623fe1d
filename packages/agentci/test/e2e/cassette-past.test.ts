import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ScriptedModel, startScriptedModel } from '@agentci/scripted-model';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../support/cli.ts';

/** Makes one call from its variables, then another from a file that tests change. */
const AGENT = `
import { readFileSync } from 'node:fs';
import http from 'node:http';
const { how, root } = JSON.parse(readFileSync(new URL('./second.json', import.meta.url), 'utf8'));
const headers = { 'content-type': 'application/json' };
const body = (text) => JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: text }] });
const post = (url, text = 'second') => fetch(url, { method: 'POST', headers, body: body(text) });
const old = (url) => new Promise((done) => {
  const sent = http.request(url, { method: 'POST', headers }, (reply) => reply.resume().on('end', done));
  sent.end(body('second'));
});
export default async function agent(query) {
  const reply = await post(process.env.OPENAI_BASE_URL + '/chat/completions', query);
  const { choices } = await reply.json();
  if (how === 'other provider') await post((process.env.ANTHROPIC_BASE_URL ?? root) + '/v1/messages');
  if (how === 'ollama') await post((process.env.OLLAMA_HOST ?? root) + '/api/chat');
  if (how === 'fetch') await post(root + '/v1/chat/completions');
  if (how === 'a Request') await fetch(new Request(root + '/v1/messages', { method: 'POST', headers, body: body('x') }));
  if (how === 'node:http') await old(root + '/v1/chat/completions');
  if (how === 'a tool') await post(root + '/search');
  return choices[0].message.content;
}
`;
const COMMAND =
  "import agent from './agent.mjs'; let text = ''; for await (const c of process.stdin) text += c; console.log(await agent(JSON.parse(text).query));";

let model: ScriptedModel;
let elsewhere: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({ script: () => ({ text: '11 metres' }) });
  elsewhere = await startScriptedModel({ script: () => ({ text: '12 metres' }) });
});
afterAll(() => Promise.all([model.close(), elsewhere.close()]));

const RUNNERS = {
  module: { module: './agent.mjs' },
  command: { command: ['node', 'command.mjs'] },
};

async function recorded(runner: object): Promise<string> {
  const queries = [
    { id: 'q', query: 'How deep?', correctness: { expected_in_answer: ['11 metres'] } },
  ];
  const cwd = tempDir({
    'agentci_spec.yaml': JSON.stringify({ agent: 'well', runner, queries }),
    'agent.mjs': AGENT,
    'command.mjs': COMMAND,
    'second.json': '{}',
  });
  const env = { OPENAI_API_KEY: 'sk-test-0123456789abcdefghij', OPENAI_BASE_URL: model.url };
  expect((await cli(['test', '--cassette', 'record'], { cwd, env })).code).toBe(0);
  return cwd;
}

interface Run {
  readonly results: readonly { readonly error?: { readonly kind: string } }[];
  readonly cassette: object;
}

describe('in replay a call to a model that was not recorded is a miss and never made', () => {
  it.each(
    Object.keys(RUNNERS).flatMap((kind) =>
      ['other provider', 'ollama', 'fetch', 'a Request', 'node:http'].map(
        (how) => [kind, how] as const,
      ),
    ),
  )('%s, %s', async (kind, how) => {
    const cwd = await recorded(RUNNERS[kind as keyof typeof RUNNERS]);
    writeFileSync(
      join(cwd, 'second.json'),
      JSON.stringify({ how, root: new URL(elsewhere.url).origin }),
    );
    const before = elsewhere.requests.length;
    const { code, stdout } = await cli(['test', '--cassette', 'replay', '-f', 'json'], { cwd });
    const { results, cassette } = JSON.parse(stdout) as Run;
    expect([code, results[0]?.error?.kind, elsewhere.requests.length - before]).toEqual([
      2,
      'cassette_miss',
      0,
    ]);
    expect(cassette).toMatchObject({ isolated: false, misses: 1 });
  });

  it('what a tool asks for on this machine is left alone', async () => {
    const cwd = await recorded(RUNNERS.command);
    writeFileSync(
      join(cwd, 'second.json'),
      JSON.stringify({ how: 'a tool', root: new URL(elsewhere.url).origin }),
    );
    const { code, stdout } = await cli(['test', '--cassette', 'replay', '-f', 'json'], { cwd });
    expect([code, (JSON.parse(stdout) as Run).cassette]).toEqual([
      0,
      expect.objectContaining({ isolated: true, misses: 0 }),
    ]);
  });
});

describe('a recording without calls', () => {
  const ASK = `
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { query } = JSON.parse(text);
const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: query }] });
const url = process.env.OPENAI_BASE_URL + '/chat/completions';
const isSilent = query === 'silent' || process.env.SILENT !== undefined;
if (!isSilent) await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
console.log('11 metres');
`;
  const suite = (...queries: readonly string[]) =>
    tempDir({
      'agentci_spec.yaml': JSON.stringify({
        agent: 'well',
        runner: { command: ['node', 'agent.mjs'] },
        queries: queries.map((query) => ({
          id: query,
          query,
          correctness: { expected_in_answer: ['11 metres'] },
        })),
      }),
      'agent.mjs': ASK,
    });
  const env = () => ({
    OPENAI_API_KEY: 'sk-test-0123456789abcdefghij',
    OPENAI_BASE_URL: model.url,
  });
  const fileOf = (cwd: string, id: string) => join(cwd, 'cassettes', 'well', `${id}.jsonl`);

  it('makes its query an error in replay, though another query is served', async () => {
    const cwd = suite('asks', 'silent');
    await cli(['test', '--cassette', 'record'], { cwd, env: env() });
    const { code, stdout } = await cli(['test', '--cassette', 'replay', '-f', 'json'], { cwd });
    const { results, cassette } = JSON.parse(stdout) as {
      results: { error?: object }[];
      cassette: object;
    };
    expect([code, cassette]).toEqual([2, expect.objectContaining({ isolated: false })]);
    expect(results[1]?.error).toMatchObject({
      kind: 'cassette',
      message: expect.stringContaining('CASSETTE_EMPTY'),
    });
  });

  it('is accepted if its first line says that the query makes no call, also when recorded again', async () => {
    const cwd = suite('asks', 'silent');
    const file = fileOf(cwd, 'silent');
    await cli(['test', '--cassette', 'record'], { cwd, env: env() });
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('"exchanges":0', '"exchanges":0,"no_calls":true'),
    );
    expect((await cli(['test', '--cassette', 'replay'], { cwd })).code).toBe(0);
    await cli(['test', '--cassette', 'record'], { cwd, env: env() });
    expect((await cli(['test', '--cassette', 'replay'], { cwd })).code).toBe(0);
    writeFileSync(join(cwd, 'agent.mjs'), ASK.replace("query === 'silent'", 'false'));
    const { code, stdout } = await cli(['test', '--cassette', 'replay'], { cwd });
    expect([code, stdout]).toEqual([2, expect.stringContaining('cassette_miss')]);
  });

  it('does not fit, and check asks no model', async () => {
    const cwd = suite('asks');
    await cli(['test', '--cassette', 'record'], { cwd, env: { ...env(), SILENT: '1' } });
    const before = model.requests.length;
    const { code, stdout } = await cli(['cassette', 'check', '--json'], { cwd, env: env() });
    const { queries } = JSON.parse(stdout) as { queries: { fit: string }[] };
    expect([code, queries[0]?.fit, model.requests.length - before]).toEqual([
      2,
      'could not tell',
      0,
    ]);
  });

  it('does not replace one with calls', async () => {
    const cwd = suite('asks', 'other');
    await cli(['test', '--cassette', 'record'], { cwd, env: env() });
    const before = readFileSync(fileOf(cwd, 'asks'), 'utf8');
    const silent = await cli(['test', '--cassette', 'record'], {
      cwd,
      env: { ...env(), SILENT: '1' },
    });
    expect([silent.code, silent.stdout]).toEqual([2, expect.stringContaining('CASSETTE_KEPT')]);
    const renewed = await cli(['cassette', 'rerecord', 'asks'], {
      cwd,
      env: { ...env(), SILENT: '1' },
    });
    expect([renewed.code, renewed.stdout]).toEqual([
      2,
      expect.stringContaining('not recorded asks: no call'),
    ]);
    expect(readFileSync(fileOf(cwd, 'asks'), 'utf8')).toBe(before);
  });
});

describe('agentci cassette with the id of a query', () => {
  const two = async () => {
    const query = (id: string) => ({
      id,
      query: id,
      correctness: { expected_in_answer: ['11 metres'] },
    });
    const cwd = tempDir({
      'agentci_spec.yaml': JSON.stringify({
        agent: 'well',
        runner: { module: './agent.mjs' },
        queries: [query('a'), query('b')],
      }),
      'agent.mjs': AGENT,
      'second.json': '{}',
    });
    const env = { OPENAI_API_KEY: 'sk-test-0123456789abcdefghij', OPENAI_BASE_URL: model.url };
    expect((await cli(['test', '--cassette', 'record'], { cwd, env })).code).toBe(0);
    return { cwd, env, file: (id: string) => join(cwd, 'cassettes', 'well', `${id}.jsonl`) };
  };

  it('check looks at it alone, even if the file of another is damaged', async () => {
    const { cwd, file } = await two();
    writeFileSync(file('b'), '');
    const { code, stdout } = await cli(['cassette', 'check', 'a', '--json'], { cwd });
    const { queries } = JSON.parse(stdout) as { queries: { query: string; fit: string }[] };
    expect([code, queries]).toEqual([0, [expect.objectContaining({ query: 'a', fit: 'fits' })]]);
    const broken = await cli(['cassette', 'check', 'b'], { cwd });
    expect([broken.code, broken.stdout]).toEqual([2, expect.stringContaining('the file is empty')]);
  });

  it('rerecord asks for it alone', async () => {
    const { cwd, env } = await two();
    const before = model.requests.length;
    const { code, stdout } = await cli(['cassette', 'rerecord', 'b'], { cwd, env });
    expect([code, stdout, model.requests.length - before]).toEqual([0, 'recorded b\n', 1]);
  });

  it('prune and ls look at its files alone, also when the spec no longer has it', async () => {
    const { cwd, file } = await two();
    const spec = join(cwd, 'agentci_spec.yaml');
    const parsed = JSON.parse(readFileSync(spec, 'utf8')) as { queries: { id: string }[] };
    writeFileSync(
      spec,
      JSON.stringify({ ...parsed, queries: [{ ...parsed.queries[0], id: 'c' }] }),
    );
    expect((await cli(['cassette', 'ls', 'b'], { cwd })).stdout).not.toContain('a.jsonl');
    expect((await cli(['cassette', 'prune', 'b'], { cwd })).stdout).toContain('b.jsonl');
    expect([existsSync(file('a')), existsSync(file('b'))]).toEqual([true, false]);
  });

  it.each(['check', 'rerecord', 'prune', 'ls'])('%s refuses an invalid one', async (action) => {
    const { cwd } = await two();
    const { code, stderr } = await cli(['cassette', action, 'typo'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('OPTION_INVALID')]);
  });
});
