import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  type ScriptedModel,
  type ScriptedRequest,
  startScriptedModel,
} from '@agentci/scripted-model';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cli } from '../support/cli.ts';

const KEY = 'sk-test-0123456789abcdefghij';

/**
 * Calls a model in a loop and prints its last text. Its other output comes from a file that tests
 * change.
 */
const AGENT = `
import { readFileSync } from 'node:fs';
const extra = JSON.parse(readFileSync(new URL('./extra.json', import.meta.url), 'utf8'));
export default async function agent(query) {
  const messages = [{ role: 'system', content: extra.system ?? 'Be brief.' }, { role: 'user', content: query }];
  for (;;) {
    const reply = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
      body: JSON.stringify({ model: extra.model ?? 'gpt-4o-mini', messages, temperature: extra.temperature ?? 0, user: String(Math.random()) }),
    });
    if (!reply.ok && extra.hides) return 'All is well: 11 metres';
    if (!reply.ok) throw new Error((await reply.json()).error.message);
    const { message } = (await reply.json()).choices[0];
    messages.push(message);
    if (!message.tool_calls) return message.content;
    for (const { id } of message.tool_calls) messages.push({ role: 'tool', tool_call_id: id, content: '11 m' });
  }
}
`;
const MAIN = `
import agent from './agent.mjs';
let text = '';
for await (const chunk of process.stdin) text += chunk;
console.log(await agent(JSON.parse(text).query));
`;

let asked = 0;
function script({ messages }: ScriptedRequest) {
  asked++;
  const question = messages.find(({ role }) => role === 'user')?.text ?? '';
  if (question.includes('leak')) return { text: `your key is ${KEY}` };
  const wanted = [...question.matchAll(/use (\w+)/g)].map(([, name]) => name!);
  const done = messages.filter(({ role }) => role === 'tool').length;
  if (done < wanted.length)
    return { toolCalls: [{ name: wanted[done]!, args: { well: question } }] };
  return { text: `Answer ${question.includes('random') ? asked : ''} to ${question}: 11 metres` };
}

let model: ScriptedModel;
let live: Record<string, string>;
beforeAll(async () => {
  model = await startScriptedModel({ script });
  live = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: model.url };
});
afterAll(() => model.close());
beforeEach(() => {
  asked = 0;
});

const COMMAND = { command: ['node', 'main.mjs'] };
const MODULE = { module: './agent.mjs' };
const query = (id: string, text = `use ${id.replace(/\W/g, '_')}`, more: object = {}) => ({
  id,
  query: text,
  correctness: { expected_in_answer: ['11 metres'] },
  path: { max_tool_calls: 3 },
  cost: { max_llm_calls: 4, max_latency_ms: 60_000 },
  ...more,
});

function project(
  queries: readonly object[],
  {
    runner = MODULE,
    cassette,
    extra = {},
  }: { runner?: object; cassette?: object; extra?: object } = {},
) {
  const spec = { agent: 'well', runner, ...(cassette === undefined ? {} : { cassette }), queries };
  return tempDir({
    'agentci_spec.yaml': JSON.stringify(spec),
    'agent.mjs': AGENT,
    'main.mjs': MAIN,
    'extra.json': JSON.stringify(extra),
  });
}

interface Run {
  readonly results: readonly {
    readonly id: string;
    readonly status: string;
    readonly answer: string;
    readonly error?: { readonly kind: string; readonly message: string };
    readonly warnings: readonly { readonly code: string }[];
    readonly cassette?: Record<string, unknown>;
    readonly cost: {
      readonly checks: readonly {
        readonly id: string;
        readonly status: string;
        readonly message: string;
      }[];
    };
  }[];
  readonly cassette?: Record<string, unknown>;
  readonly checks: readonly { readonly id: string; readonly status: string }[];
}

async function test(
  cwd: string,
  mode: string | undefined,
  env: Record<string, string> = {},
  args: readonly string[] = [],
) {
  const flags = mode === undefined ? [] : ['--cassette', mode];
  const outcome = await cli(['test', '-f', 'json', ...flags, ...args], { cwd, env });
  const run = outcome.stdout.startsWith('{') ? (JSON.parse(outcome.stdout) as Run) : undefined;
  return { ...outcome, run: run as Run };
}

describe('record, then replay without a key', () => {
  it.each([
    ['a module', MODULE],
    ['a command', COMMAND],
  ])('%s: the same verdicts, nothing asked, nothing spent, no time claimed', async (_, runner) => {
    const queries = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) =>
      query(id, `use ${id} and use ${id}2`),
    );
    const cwd = project(queries, { runner });
    const recorded = await test(cwd, 'record', live);
    expect(recorded.code).toBe(0);
    expect(recorded.run.cassette).toMatchObject({ mode: 'record', new: 18 });
    const before = asked;
    const replayed = await test(cwd, 'replay');
    expect([replayed.code, asked]).toEqual([0, before]);
    expect(replayed.run.results.map(({ status, answer }) => [status, answer])).toEqual(
      recorded.run.results.map(({ status, answer }) => [status, answer]),
    );
    expect(replayed.run.cassette).toMatchObject({
      hits: 18,
      misses: 0,
      unused: 0,
      isolated: true,
      planes: ['llm'],
      spent_usd: 0,
    });
    for (const { cost, cassette } of replayed.run.results) {
      expect(cassette).toMatchObject({ mode: 'replay', hits: 3, isolated: true });
      const latency = cost.checks.find(({ id }) => id === 'cost.max_latency_ms');
      expect(latency).toMatchObject({
        status: 'skip',
        message: expect.stringContaining('answered from a cassette'),
      });
    }
    const written = readdirSync(join(cwd, 'cassettes', 'well')).map((name) =>
      readFileSync(join(cwd, 'cassettes', 'well', name), 'utf8'),
    );
    expect(written).toHaveLength(6);
    expect(written.join('')).not.toContain(KEY);
  });

  it('a command that stays up', async () => {
    const cwd = project(
      ['a', 'b', 'c'].map((id) => query(id)),
      { runner: { command: ['node', 'serve.mjs'], mode: 'serve' } },
    );
    writeFileSync(
      join(cwd, 'serve.mjs'),
      `import { createInterface } from 'node:readline';
      import agent from './agent.mjs';
      for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(await agent(JSON.parse(line).query)));`,
    );
    const recorded = await test(cwd, 'record', live, ['-w', '2']);
    expect(recorded.code).toBe(0);
    const replayed = await test(cwd, 'replay', {}, ['-w', '2']);
    expect([replayed.code, replayed.run.cassette!.hits]).toEqual([0, 6]);
  });

  it('each cell of a matrix has a separate file', async () => {
    const cwd = project([query('a', 'say {{word}}')]);
    const spec = JSON.parse(readFileSync(join(cwd, 'agentci_spec.yaml'), 'utf8'));
    writeFileSync(
      join(cwd, 'agentci_spec.yaml'),
      JSON.stringify({ ...spec, matrix: { word: ['one', 'two'] } }),
    );
    expect((await test(cwd, 'record', live)).code).toBe(0);
    const files = readdirSync(join(cwd, 'cassettes', 'well'));
    expect(files.map((name) => name.replace(/[0-9a-f]{8}/, 'HASH'))).toEqual([
      'a.cell-HASH.jsonl',
      'a.cell-HASH.jsonl',
    ]);
    expect((await test(cwd, 'replay')).code).toBe(0);
    expect((await cli(['cassette', 'ls'], { cwd })).stdout).not.toContain('unused');
  });

  it('every report says what it may claim', async () => {
    const cwd = project([query('a')]);
    await test(cwd, 'record', live);
    const { stdout, code } = await cli(
      ['test', '--cassette', 'replay', '-f', 'console', '-f', 'markdown=r.md', '-f', 'html=r.html'],
      { cwd },
    );
    expect(code).toBe(0);
    const line =
      /cassette: 2 calls replayed; recorded \$\d\S*, spent \$0; model calls were frozen, tools ran for real/;
    expect(stdout).toMatch(line);
    expect(readFileSync(join(cwd, 'r.md'), 'utf8')).toMatch(/2 calls replayed/);
    expect(readFileSync(join(cwd, 'r.html'), 'utf8')).toContain('"spent_usd":0');
  });

  it('repeats need as many recordings, and each run has its own', async () => {
    const cwd = project([query('a', 'say something random', { runs: 2 })]);
    expect((await test(cwd, 'record', live)).code).toBe(0);
    expect(readdirSync(join(cwd, 'cassettes', 'well'))).toEqual(['a.jsonl', 'a.run-2.jsonl']);
    expect((await test(cwd, 'replay')).code).toBe(0);
    const more = await test(cwd, 'replay', {}, ['-n', '3']);
    expect(more.code).toBe(2);
    expect(JSON.stringify(more.run.results[0])).toContain('run 3 has no recording');
  });

  it('ids with odd letters get separate files inside the folder', async () => {
    const ids = ['a.run-2', 'a', 'A_b-c.d', '0', 'con'];
    const cwd = project(ids.map((id) => query(id, `say ${JSON.stringify(id)}`)));
    expect((await test(cwd, 'record', live)).code).toBe(0);
    expect(readdirSync(join(cwd, 'cassettes', 'well'))).toHaveLength(ids.length);
    expect(readdirSync(join(cwd, 'cassettes'))).toEqual(['well']);
    expect((await test(cwd, 'replay')).code).toBe(0);
  });

  it('ids that some disks cannot tell apart are refused', async () => {
    const cwd = project([query('refund'), query('Refund')]);
    const { code, stderr } = await cli(['test', '--cassette', 'replay'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('SPEC_DUPLICATE');
  });

  it('many workers keep their cassettes apart', async () => {
    const queries = Array.from({ length: 24 }, (_, i) => query(`q${i}`, 'use same'));
    const cwd = project(queries);
    expect((await test(cwd, 'record', live, ['-w', '8'])).code).toBe(0);
    const replayed = await test(cwd, 'replay', {}, ['-w', '8']);
    expect([replayed.code, replayed.run.cassette!.hits]).toEqual([0, 48]);
  });
});

describe('a miss', () => {
  it.each([
    ['the system prompt', { system: 'Be very brief.' }, 'system prompt'],
    ['the model', { model: 'gpt-5-mini' }, 'model'],
    ['a parameter', { temperature: 1 }, 'parameters'],
  ])('is could not tell, and names what changed: %s', async (_, extra, cause) => {
    const cwd = project([query('a')]);
    await test(cwd, 'record', live);
    writeFileSync(join(cwd, 'extra.json'), JSON.stringify(extra));
    const { code, run } = await test(cwd, 'replay');
    expect(code).toBe(2);
    expect(run.results[0]).toMatchObject({
      status: 'error',
      error: {
        kind: 'cassette_miss',
        message: expect.stringContaining(`first difference from exchange 1 is the ${cause}`),
      },
      cassette: { misses: 1, isolated: false, causes: [cause] },
    });
  });

  it.each([
    ['a module', MODULE],
    ['a command', COMMAND],
  ])('cannot be hidden by the agent: %s', async (_, runner) => {
    const cwd = project([query('a', 'say it')], { runner });
    await test(cwd, 'record', live);
    writeFileSync(join(cwd, 'extra.json'), JSON.stringify({ system: 'New.', hides: true }));
    const { code, run } = await test(cwd, 'replay');
    expect([code, run.results[0]!.error?.kind]).toEqual([2, 'cassette_miss']);
  });

  it('a query without a recording is one, and its agent is not started', async () => {
    const cwd = project([query('a')], {
      runner: { command: ['node', '-e', 'require("fs").writeFileSync("started", "")'] },
    });
    const { code, run } = await test(cwd, 'replay');
    expect([code, run.results[0]!.error?.kind, existsSync(join(cwd, 'started'))]).toEqual([
      2,
      'cassette_miss',
      false,
    ]);
    expect(run.results[0]!.error?.message).toContain('--cassette record --ids a');
  });

  it('calls that were recorded and not made are a warning', async () => {
    const cwd = project([query('a', 'say it')]);
    await test(cwd, 'record', live);
    const file = join(cwd, 'cassettes', 'well', 'a.jsonl');
    const lines = readFileSync(file, 'utf8')
      .replace('"exchanges":1', '"exchanges":2')
      .trim()
      .split('\n');
    writeFileSync(file, `${[...lines, lines[1]!.replace('"i":1', '"i":2')].join('\n')}\n`);
    const { code, run } = await test(cwd, 'replay');
    expect([code, run.results[0]!.warnings.map((one) => one.code)]).toEqual([
      0,
      ['CASSETTE_UNUSED'],
    ]);
    expect((await test(cwd, 'replay', {}, ['--strict'])).code).toBe(2);
  });

  it('a replay that served nothing proves nothing', async () => {
    const cwd = project([query('a', 'say it')]);
    await test(cwd, 'record', live);
    writeFileSync(
      join(cwd, 'agent.mjs'),
      "export default () => 'Answer without a model: 11 metres';",
    );
    const { code, run } = await test(cwd, 'replay');
    expect([code, run.results[0]!.error?.kind]).toEqual([2, 'cassette']);
    expect(run.checks).toMatchObject([{ id: 'cassette.served', status: 'error' }]);
  });
});

describe('dropped data', () => {
  it('a credential in a reply: exit 2, nothing written, unless scrub names it', async () => {
    const leak = [{ id: 'a', query: 'leak', cost: { max_llm_calls: 1 } }];
    const cwd = project(leak);
    const refused = await test(cwd, 'record', live);
    expect([refused.code, existsSync(join(cwd, 'cassettes'))]).toEqual([2, false]);
    expect(refused.run.results[0]!.error?.message).toContain('CASSETTE_SECRET');
    expect(refused.stdout + refused.stderr).not.toContain(KEY);
    const scrubbed = project(leak, { cassette: { scrub: ['secret:*'] } });
    expect((await test(scrubbed, 'record', live)).code).toBe(0);
    expect(readFileSync(join(scrubbed, 'cassettes', 'well', 'a.jsonl'), 'utf8')).not.toContain(KEY);
    const replayed = await test(scrubbed, 'replay');
    expect([replayed.code, replayed.run.results[0]!.warnings.map(({ code }) => code)]).toEqual([
      0,
      ['CASSETTE_ALTERED'],
    ]);
  });

  it('an old recording stays if a new one fails', async () => {
    const cwd = project([query('a')]);
    await test(cwd, 'record', live);
    const file = join(cwd, 'cassettes', 'well', 'a.jsonl');
    const before = readFileSync(file, 'utf8');
    const { code } = await test(
      cwd,
      'record',
      { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' },
      ['--retries', '0'],
    );
    expect([code, readFileSync(file, 'utf8')]).toEqual([2, before]);
  });
});

describe('files that cannot be trusted', () => {
  it.each([
    ['cut short', (text: string) => text.slice(0, -10), 'CASSETTE_DAMAGED'],
    [
      'edited by hand',
      (text: string) => text.replace('Be brief.', 'Be long.'),
      'its key no longer fits',
    ],
    [
      'of a later version',
      (text: string) => text.replace('cassette/1', 'cassette/9'),
      'CASSETTE_DAMAGED',
    ],
    [
      'of another query',
      (text: string) => text.replace('"query":"a"', '"query":"z"'),
      'CASSETTE_DAMAGED',
    ],
  ])('%s: could not tell', async (_, change, expected) => {
    const cwd = project([query('a')]);
    await test(cwd, 'record', live);
    const file = join(cwd, 'cassettes', 'well', 'a.jsonl');
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    const { code, run } = await test(cwd, 'replay');
    expect([code, run.results[0]!.error?.message]).toEqual([2, expect.stringContaining(expected)]);
  });

  it('a link that leads out of the folder is not followed', async () => {
    const cwd = project([query('a')]);
    const outside = tempDir({});
    mkdirSync(join(cwd, 'cassettes'));
    symlinkSync(outside, join(cwd, 'cassettes', 'well'));
    const { code, run } = await test(cwd, 'record', live);
    expect([code, run.results[0]!.error?.message, readdirSync(outside)]).toEqual([
      2,
      expect.stringContaining('CASSETTE_PLACE'),
      [],
    ]);
  });

  it('nothing is recorded through a folder that is a link', async () => {
    const cwd = project([query('a')]);
    const elsewhere = tempDir({});
    symlinkSync(elsewhere, join(cwd, 'cassettes'));
    const { code, run } = await test(cwd, 'record', live);
    expect([code, run.results[0]!.error?.message, readdirSync(elsewhere)]).toEqual([
      2,
      expect.stringContaining('is a link'),
      [],
    ]);
  });
});

describe('modes', () => {
  it('auto records new calls, replays known ones, and never records in CI', async () => {
    const cwd = project([query('a')], { cassette: { mode: 'auto', dir: 'tapes' } });
    expect((await test(cwd, undefined, { ...live, CI: 'true' })).code).toBe(2);
    expect(existsSync(join(cwd, 'tapes'))).toBe(false);
    expect((await test(cwd, undefined, live)).run.cassette).toMatchObject({ new: 2, hits: 0 });
    expect((await test(cwd, undefined, live)).run.cassette).toMatchObject({ new: 0, hits: 2 });
    expect((await test(cwd, undefined)).code).toBe(0);
    expect((await test(cwd, undefined, { CI: 'true' })).run.cassette).toMatchObject({
      mode: 'replay',
      hits: 2,
    });
    expect((await test(cwd, 'off', live)).run.cassette).toBeUndefined();
  });

  it('a spec that says record does not record in CI; the flag does', async () => {
    const cwd = project([query('a')], { cassette: { mode: 'record' } });
    const refused = await test(cwd, undefined, { ...live, CI: '1' });
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('CASSETTE_CI')]);
    expect((await test(cwd, 'record', { ...live, CI: '1' })).code).toBe(0);
  });

  it.each([
    ['an unknown mode', ['test', '--cassette', 'reply'], 'it must be record, replay, auto, off'],
    ['no folder', ['test', '--cassette', 'replay='], 'it has no folder after "="'],
    ['recordings', ['test', '--cassette', 'replay', '--traces', 'agent.mjs'], 'OPTIONS_CONFLICT'],
    [
      'an upstream in replay',
      ['capture', '--cassette', 'replay', '--upstream', 'openai=http://x.test', '--', 'true'],
      'OPTIONS_CONFLICT',
    ],
    [
      'a program never recorded',
      ['capture', '--cassette', 'replay', '--', 'true'],
      'CASSETTE_MISSING',
    ],
  ])('refused: %s', async (_, args, expected) => {
    const { code, stderr } = await cli(args, { cwd: project([query('a')]) });
    expect([code, stderr]).toEqual([2, expect.stringContaining(expected)]);
  });

  it('an agent that runs elsewhere cannot use a cassette', async () => {
    const cwd = project([query('a')], { runner: { http: { url: 'http://127.0.0.1:1' } } });
    const { code, stderr } = await test(cwd, 'replay');
    expect([code, stderr]).toEqual([2, expect.stringContaining('SPEC_VALUE')]);
  });

  it('agentci capture records and replays any program', async () => {
    const cwd = project([]);
    writeFileSync(
      join(cwd, 'once.mjs'),
      "import agent from './agent.mjs'; console.log(await agent('use dig'));",
    );
    const run = (mode: string, env = {}) =>
      cli(['capture', '--cassette', mode, '--', 'node', 'once.mjs'], { cwd, env });
    const recorded = await run('record=tapes', live);
    expect([recorded.code, recorded.stderr]).toEqual([
      0,
      expect.stringContaining('cassette: 2 calls recorded'),
    ]);
    const replayed = await run('replay=tapes');
    expect([replayed.code, replayed.stdout]).toEqual([0, recorded.stdout]);
    expect(replayed.stderr).toContain('cassette: 2 calls replayed');
    writeFileSync(join(cwd, 'extra.json'), '{"system":"New.","hides":true}');
    const missed = await run('replay=tapes');
    expect([missed.code, missed.stderr]).toEqual([2, expect.stringContaining('cassette_miss')]);
  });
});

describe('agentci cassette', () => {
  it('lists, shows, checks, prunes and renews', async () => {
    const cwd = project([query('a'), query('b')], { cassette: {} });
    const run = (args: readonly string[], env = {}) => cli(['cassette', ...args], { cwd, env });
    expect((await run(['ls'])).stdout).toContain('no cassettes in cassettes');
    expect((await run(['rerecord', '--only', 'missing'], live)).stdout).toContain(
      'recorded a\nrecorded b',
    );
    const listed = await run(['ls']);
    expect([listed.code, listed.stdout]).toEqual([
      0,
      expect.stringContaining('cassettes/well/a.jsonl  2 exchanges · gpt-4o-mini'),
    ]);
    const shown = await run(['show', 'a']);
    expect(shown.stdout).toContain(
      '── 2 · POST /v1/chat/completions · gpt-4o-mini · 200\n→ as exchange 1, and:',
    );
    expect((await run(['check'])).code).toBe(0);

    writeFileSync(join(cwd, 'extra.json'), '{"system":"New."}');
    const drifted = await run(['check']);
    expect([drifted.code, drifted.stdout]).toEqual([
      1,
      expect.stringContaining('drift: system prompt × 2'),
    ]);
    expect((await run(['rerecord', '--only', 'stale'], live)).code).toBe(0);
    expect((await run(['check'])).code).toBe(0);
    expect((await run(['rerecord', '--only', 'stale'], live)).stdout).toContain(
      'every recording still fits',
    );

    writeFileSync(join(cwd, 'extra.json'), '{"system":"Newer."}');
    await test(cwd, 'auto', live);
    expect((await run(['check'])).stdout).toContain('unused calls');
    expect((await run(['prune', '--unused'])).stdout).toContain('removed 2 exchanges of a');
    expect((await run(['check'])).code).toBe(0);

    writeFileSync(
      join(cwd, 'agentci_spec.yaml'),
      JSON.stringify({ agent: 'well', runner: MODULE, queries: [query('a')] }),
    );
    expect((await run(['prune'])).stdout).toContain(
      'removed cassettes/well/b.jsonl: the spec has no query "b"',
    );
    appendFileSync(join(cwd, 'cassettes', 'well', 'a.jsonl'), 'x');
    expect((await run(['ls'])).code).toBe(2);
    expect((await run(['show', 'zzz'])).code).toBe(2);
    expect((await run(['list'])).stderr).toContain('OPTION_INVALID');
  });

  it('asks providers again and compares the shape of answers, never their words', async () => {
    const cwd = project([query('a')], { cassette: {} });
    const run = (args: readonly string[], env = {}) => cli(['cassette', ...args], { cwd, env });
    await run(['rerecord'], live);
    const same = await run(['check', '--live', '5'], live);
    expect([same.code, same.stdout]).toEqual([
      0,
      expect.stringContaining('✓ live: a exchange 2  same shape'),
    ]);
    const unasked = await run(['check', '--live', '5']);
    expect([unasked.code, unasked.stdout]).toEqual([
      2,
      expect.stringContaining('no key of openai is set'),
    ]);
    const file = join(cwd, 'cassettes', 'well', 'a.jsonl');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replaceAll('"finish_reason":"stop"', '"finish_reason":"length"'),
    );
    const moved = await run(['check', '--live', '5'], live);
    expect([moved.code, moved.stdout]).toEqual([
      1,
      expect.stringContaining('finish: length → stop'),
    ]);
  });
});
