import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ScriptedModel, startScriptedModel } from '@agentci/scripted-model';
import { startChaos } from '@agentci/testing/chaos-upstream';
import { makeDir } from '@agentci/testing/temp-dir';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../support/cli.ts';

/**
 * An agent with model addresses in its code (from `plan.json`) that no variable names. It calls
 * each of them with the method in its query, and a local tool. The last query also calls a model
 * named in a variable.
 */
const AGENT = `
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import http from 'node:http';
let input = '';
for await (const chunk of process.stdin) input += chunk;
const { query } = JSON.parse(input);
const { ask, tool, say } = JSON.parse(readFileSync('plan.json', 'utf8'));
const bodyOf = (url) => JSON.stringify(url.endsWith('/messages') ? { text: say } : { model: url.includes('/r/') ? 'large' : 'm', messages: [{ role: 'user', content: say }] });
const headers = { 'content-type': 'application/json' };
const started = (program, ...args) => execFileSync(program, args, { encoding: 'utf8' });
const byFetch = async (url) => (await fetch(url, { method: 'POST', headers, body: bodyOf(url) })).text();
const WAYS = {
  'by fetch': byFetch,
  'by node:http': (url) => new Promise((done) => http.request(url, { method: 'POST', headers }, async (reply) => {
    let text = '';
    for await (const chunk of reply) text += chunk;
    done(text);
  }).end(bodyOf(url))),
  'by curl': (url) => started('curl', '-sS', url, '-H', 'content-type: application/json', '-d', bodyOf(url)),
  'in a tunnel': (url) => started('curl', '-sS', '-p', url, '-H', 'content-type: application/json', '-d', bodyOf(url)),
  'by Python': (url) => started('python3', 'ask.py', url, bodyOf(url)),
  'and a named one': byFetch,
};
const roots = query === 'and a named one' ? [...ask.slice(1), process.env.OPENAI_BASE_URL.replace(/\\/v1$/, '')] : ask;
const said = [];
for (const root of roots)
  said.push(JSON.parse(await WAYS[query](root + '/v1/chat/completions')).choices?.[0].message.content);
said.push(await WAYS[query](tool + '/messages'));
console.log(said.join(', '));
`;
const PYTHON = `
import sys, urllib.request
request = urllib.request.Request(sys.argv[1], sys.argv[2].encode(), {'content-type': 'application/json'})
try:
    print(urllib.request.urlopen(request).read().decode())
except urllib.error.HTTPError as refused:
    print(refused.read().decode())
`;
const QUERIES = ['by fetch', 'by node:http', 'by curl', 'by Python', 'and a named one'];

let one: ScriptedModel;
let two: ScriptedModel;
let third: ScriptedModel;
let named: ScriptedModel;
let tool: Awaited<ReturnType<typeof startChaos>>;
beforeAll(async () => {
  // If these tests were skipped, they would look green.
  for (const program of ['curl', 'python3']) execFileSync(program, ['--version']);
  const says = (text: string) => startScriptedModel({ script: () => ({ text }) });
  [one, two, third, named] = await Promise.all([
    says('eleven'),
    says('twelve'),
    says('thirteen'),
    says('named'),
  ]);
  tool = await startChaos((_, response) => void response.end('a tool'));
});
afterAll(() => Promise.all([one, two, third, named, tool].map((server) => server.close())));

const rootOf = ({ url }: ScriptedModel, host = '127.0.0.1'): string =>
  new URL(url).origin.replace('127.0.0.1', host);
const nameOf = ({ url }: ScriptedModel): string => `@localhost:${new URL(url).port}`;
const plan = (ask: readonly string[], say = 'How deep?'): string =>
  JSON.stringify({ ask, tool: tool.url, say });
const calls = (...servers: readonly ScriptedModel[]): number[] =>
  servers.map(({ requests }) => requests.length);

interface Run {
  readonly results: readonly {
    readonly id: string;
    readonly answer?: string;
    readonly error?: { readonly kind: string; readonly message: string };
    readonly cassette: Readonly<Record<string, unknown>>;
  }[];
  readonly cassette: Readonly<Record<string, unknown>>;
}

describe('models at addresses that are written in the agent’s code', () => {
  let cwd: string;
  const run = async (
    mode: string,
    env: Record<string, string> = {},
    ...args: readonly string[]
  ) => {
    const { code, stdout } = await cli(['test', '--cassette', mode, '-f', 'json', ...args], {
      cwd,
      env,
    });
    return { code, ...(JSON.parse(stdout) as Run) };
  };
  beforeAll(async () => {
    const queries = QUERIES.map((query) => ({
      id: query.replaceAll(/[ :]/g, '-'),
      query,
      correctness: { expected_in_answer: ['twelve', 'a tool'] },
    }));
    cwd = makeDir({
      'agentci_spec.yaml': JSON.stringify({
        agent: 'well',
        runner: { command: ['node', 'agent.mjs'] },
        queries,
      }),
      'agent.mjs': AGENT,
      'ask.py': PYTHON,
      'plan.json': plan([rootOf(one), rootOf(two, 'localhost')]),
    });
    const { code, cassette } = await run('record', {
      OPENAI_API_KEY: 'sk-test-0123456789abcdefghij',
      OPENAI_BASE_URL: named.url,
    });
    expect([code, cassette.asked, calls(one, two, named)]).toEqual([0, 10, [4, 5, 1]]);
  });

  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  it('are recorded by their addresses, each call once and no tool among them', () => {
    const names = QUERIES.map((query) => {
      const id = query.replaceAll(/[ :]/g, '-');
      return readFileSync(join(cwd, 'cassettes', 'well', `${id}.jsonl`), 'utf8').match(
        /(?<="provider":")[^"]*/g,
      );
    });
    const both = [nameOf(one), nameOf(two)];
    expect(names).toEqual([both, both, both, both, [nameOf(two), 'openai']]);
    expect(tool.requests).toHaveLength(5);
  });

  it('are replayed without the model but with the tool', async () => {
    const [before, tools] = [calls(one, two), tool.requests.length];
    const { code, results, cassette } = await run('replay');
    expect(
      results.map(({ error, cassette: use }) => [error?.message, use.hits, use.isolated]),
    ).toEqual(QUERIES.map(() => [undefined, 2, true]));
    expect([code, cassette.isolated, calls(one, two)]).toEqual([0, true, before]);
    expect(tool.requests.length - tools).toBe(5);
  });

  it('are missed with another prompt, and not asked', async () => {
    const before = calls(one, two);
    writeFileSync(join(cwd, 'plan.json'), plan([rootOf(one), rootOf(two)], 'How wide?'));
    const { code, results } = await run('replay');
    for (const { error, cassette } of results) {
      expect([error?.kind, cassette.isolated]).toEqual(['cassette_miss', false]);
      expect(error?.message).toMatch(/user message.*"How deep\?", asked "How wide\?"/);
    }
    expect([code, calls(one, two)]).toEqual([2, before]);
  });

  it('are not recorded if a call goes through a tunnel, and no incomplete file is written', async () => {
    const spec = { agent: 'mole', runner: { command: ['node', 'agent.mjs'] } };
    const queries = [
      { id: 'q', query: 'in a tunnel', correctness: { expected_in_answer: ['eleven'] } },
    ];
    writeFileSync(join(cwd, 'mole.yaml'), JSON.stringify({ ...spec, queries }));
    writeFileSync(join(cwd, 'plan.json'), plan([rootOf(one)]));
    const { code, results } = await run('record', {}, '-c', 'mole.yaml');
    expect([code, results[0]?.error?.message]).toEqual([
      2,
      expect.stringMatching(/^CASSETTE_PAST: .*reached localhost|127/),
    ]);
    expect(existsSync(join(cwd, 'cassettes', 'mole'))).toBe(false);
  });

  it('may have another port, and one more server is a miss', async () => {
    const before = calls(two, third, named);
    writeFileSync(join(cwd, 'plan.json'), plan(['', rootOf(third)]));
    const moved = await run('replay', {}, '--filter', 'and-a-named-one');
    expect([moved.code, moved.cassette.hits]).toEqual([0, 2]);
    writeFileSync(join(cwd, 'plan.json'), plan(['', rootOf(third), rootOf(two)]));
    const { code, cassette } = await run('replay', {}, '--filter', 'and-a-named-one');
    expect([code, cassette.misses, cassette.isolated]).toEqual([2, 1, false]);
    expect(calls(two, third, named)).toEqual(before);
  });
});
