import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ScriptedModel,
  type ScriptedRequest,
  startScriptedModel,
} from '@agentci/scripted-model';
import { verdictText } from '@agentci/testing/scripted-judge';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cli } from '../support/cli.ts';

const KEY = 'sk-test-0123456789abcdefghij';
const AGENT = `
import { readFileSync } from 'node:fs';
const system = readFileSync(new URL('./system.txt', import.meta.url), 'utf8');
export default async function agent(query) {
  if (query === 'silent') return '11 metres';
  const reply = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'system', content: system }, { role: 'user', content: query }] }),
  });
  const body = await reply.json();
  return reply.ok ? body.choices[0].message.content : 'no';
}
`;
const ONCE = "import agent from './agent.mjs'; console.log(await agent(process.argv[2]));";

let model: ScriptedModel;
let live: Record<string, string>;
/** The model's reply to a question. */
let depth = '11 metres';
beforeAll(async () => {
  const script = ({ messages }: ScriptedRequest) => {
    const question = messages.find(({ role }) => role === 'user')?.text ?? '';
    if (!/^(?:How|leak|one|two)/.test(question))
      return { text: verdictText(5), usage: { input: 100, output: 20 } };
    return { text: question.includes('leak') ? `your key is ${KEY}` : depth };
  };
  model = await startScriptedModel({ script });
  live = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.url };
});
afterAll(() => model.close());

const query = (id: string, text = `How deep is ${id}?`, more: object = {}) => ({
  id,
  query: text,
  correctness: { expected_in_answer: ['11 metres'], ...more },
});
const project = (queries: readonly object[], file = 'agentci_spec.yaml', more: object = {}) =>
  tempDir({
    [file]: JSON.stringify({ agent: 'well', runner: { module: './agent.mjs' }, ...more, queries }),
    'agent.mjs': AGENT,
    'once.mjs': ONCE,
    'system.txt': 'Be brief.',
  });

describe('what a recording says of itself', () => {
  it('a query that fails during recording does not replace a good recording, and a message reports it', async () => {
    const cwd = project([query('a')]);
    depth = '11 metres';
    expect((await cli(['test', '--cassette', 'record'], { cwd, env: live })).code).toBe(0);
    const file = join(cwd, 'cassettes', 'well', 'a.jsonl');
    const before = readFileSync(file, 'utf8');
    depth = 'I do not know';
    const failed = await cli(['test', '--cassette', 'record', '-f', 'json'], { cwd, env: live });
    depth = '11 metres';
    expect([failed.code, readFileSync(file, 'utf8')]).toEqual([1, before]);
    const [result] = (
      JSON.parse(failed.stdout) as { results: { warnings: object[]; cassette: object }[] }
    ).results;
    expect(result!.warnings).toContainEqual(expect.objectContaining({ code: 'CASSETTE_KEPT' }));
    expect(result!.cassette).toMatchObject({ new: 0, asked: 1 });
  });

  it('calls that were not kept are not called recorded', async () => {
    const cwd = project([query('a', 'leak, 11 metres')]);
    const { code, stdout } = await cli(['test', '--cassette', 'record'], { cwd, env: live });
    expect([code, stdout]).toEqual([
      2,
      expect.stringContaining('cassette: 0 calls recorded, 1 made and not kept'),
    ]);
  });

  it.each([
    ['an API key', 'sk-live-9876543210zyxwvutsrq'],
    ['a bearer token', '0123456789abcdef0123456789abcdef', 'Authorization: Bearer '],
    ['a password in an address', 'hunter2-and-more', 'postgres://app:', '@db.example/orders'],
    ['a login', 'YWRtaW46aHVudGVyMi1hbmQtbW9yZQ==', 'Authorization: Basic '],
  ])('%s in a reply is stored nowhere', async (_, secret, before = '', after = '') => {
    const cwd = project([query('a')]);
    depth = `11 metres, ${before}${secret}${after}`;
    const { code, stdout } = await cli(['test', '--cassette', 'record'], { cwd, env: live });
    depth = '11 metres';
    expect([code, stdout]).toEqual([2, expect.stringContaining('CASSETTE_SECRET')]);
    expect(stdout).not.toContain(secret);
    const files = readdirSync(cwd, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    const holding = files.filter((one) =>
      readFileSync(join(one.parentPath, one.name), 'utf8').includes(secret),
    );
    expect(holding.map(({ name }) => name)).toEqual([]);
  });

  it('a whole run in which no call was recorded is not green', async () => {
    const cwd = project([query('a', 'silent')]);
    const { code, stdout } = await cli(['test', '--cassette', 'record'], { cwd, env: live });
    expect([code, stdout]).toEqual([
      2,
      expect.stringContaining('no call of a model was recorded in the whole run'),
    ]);
  });

  it('a folder that is a file is refused in words', async () => {
    const cwd = project([query('a')]);
    writeFileSync(join(cwd, 'cassettes'), '');
    for (const args of [
      ['test', '--cassette', 'record'],
      ['test', '--cassette', 'replay'],
      ['cassette', 'ls'],
      ['capture', '--cassette', 'record', '--', 'node', 'once.mjs', 'one'],
      ['capture', '--cassette', 'replay', '--', 'node', 'once.mjs', 'one'],
    ]) {
      const { code, stdout, stderr } = await cli(args, { cwd, env: live });
      expect([code, stdout + stderr]).toEqual([
        2,
        expect.stringMatching(/CASSETTE_PLACE[\s\S]*is a file|is a file[\s\S]*CASSETTE_PLACE/),
      ]);
      expect(stdout + stderr).not.toMatch(/ENOTDIR|CASSETTE_MISSING|Record it/);
    }
    expect(existsSync(join(cwd, '.agentci', 'captures'))).toBe(false);
  });
});

describe('what a replay says', () => {
  it('names the command that records the missing calls, as the user would type it', async () => {
    const cwd = project([query('a.b')], 'own.yaml');
    const { code, stdout } = await cli(
      ['test', '-c', 'own.yaml', '-n', '2', '--cassette', 'replay=tapes'],
      { cwd },
    );
    expect([code, stdout.replace(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringMatching(/agentci test -c own.yaml -n 2 --cassette record=\S*tapes --ids a\.b/),
    ]);
  });

  it('one cause is one group of failures', async () => {
    const ids = ['a', 'b2', 'c-401', 'some-longer-id'];
    const cwd = project(ids.map((id) => query(id)));
    expect((await cli(['test', '--cassette', 'record'], { cwd, env: live })).code).toBe(0);
    writeFileSync(join(cwd, 'system.txt'), 'Be long.');
    for (const flag of ['replay', 'replay=nowhere']) {
      await cli(['test', '--cassette', flag], { cwd });
      const groups = await cli(['failures', '--json'], { cwd });
      const { groups: found } = JSON.parse(groups.stdout) as { groups: { queries: string[] }[] };
      expect(found.map(({ queries }) => queries)).toEqual([ids]);
    }
  });

  it("reports the judge's cost next to the saved agent cost", async () => {
    const cwd = project(
      [query('a', undefined, { llm_judge: [{ rule: 'It names a depth.' }] })],
      undefined,
      {
        cassette: {},
        judge_config: { model: 'openai:gpt-4o-mini', base_url: model.url, cache: false },
      },
    );
    const recorded = await cli(['test', '--cassette', 'record'], { cwd, env: live });
    expect([recorded.code, recorded.stdout]).toEqual([
      0,
      expect.stringContaining('1 call recorded'),
    ]);
    const { code, stdout } = await cli(['test'], { cwd, env: { ...live, CI: '1' } });
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/recorded \$[\d.]+, spent: agent \$0, judge \$[\d.]+/),
    ]);
  });
});

describe('agentci capture with a cassette', () => {
  const run = (cwd: string, mode: string, question: string, env: Record<string, string> = {}) =>
    cli(['capture', '--cassette', mode, '--', 'node', 'once.mjs', question], { cwd, env });

  it('a miss is not blamed on the provider', async () => {
    const cwd = project([]);
    expect((await run(cwd, 'record', 'one', live)).code).toBe(0);
    const missed = await run(cwd, 'replay', 'two');
    expect([missed.code, missed.stderr]).toEqual([2, expect.stringContaining('cassette_miss')]);
    expect(missed.stderr).not.toContain('CAPTURE_UPSTREAM_FAILED');
  });

  it('a recording that replaces another reports it', async () => {
    const cwd = project([]);
    await run(cwd, 'record', 'one', live);
    const { code, stderr } = await run(cwd, 'record', 'two', live);
    expect([code, stderr]).toEqual([0, expect.stringContaining('CASSETTE_REPLACED')]);
  });

  it('an empty recording is not green, and keeps the existing file', async () => {
    const cwd = project([]);
    await run(cwd, 'record', 'one', live);
    const file = join(cwd, 'cassettes', 'capture', 'run.jsonl');
    const before = readFileSync(file, 'utf8');
    const { code, stderr } = await run(cwd, 'record', 'silent', live);
    expect([code, stderr]).toEqual([2, expect.stringContaining('nothing was recorded')]);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect((await run(cwd, 'replay', 'silent')).code).toBe(2);
  });
});
