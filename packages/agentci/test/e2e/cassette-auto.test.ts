import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startChaos } from '@agentci/testing/chaos-upstream';
import { makeDir } from '@agentci/testing/temp-dir';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cli } from '../support/cli.ts';

/**
 * Calls the models at the addresses in `plan.json`, which no variable names, and `named` at
 * OPENAI_BASE_URL.
 */
const ASK = `
import { readFileSync } from 'node:fs';
const ask = async (root, content) => {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer of-the-agent-0123456789' };
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] });
  const reply = await fetch(root + '/chat/completions', { method: 'POST', headers, body });
  const text = await reply.text();
  return reply.ok ? JSON.parse(text).choices[0].message.content : text;
};
export async function answer(query) {
  const said = [];
  for (const root of JSON.parse(readFileSync('plan.json', 'utf8')))
    said.push(await ask(root === 'named' ? process.env.OPENAI_BASE_URL : root, query));
  return said.join(', ');
}
`;
const AGENTS = {
  'command.mjs': `import { answer } from './ask.mjs';
let input = '';
for await (const chunk of process.stdin) input += chunk;
console.log(await answer(JSON.parse(input).query));`,
  'module.mjs': `import { answer } from './ask.mjs';
export default ({ query }) => answer(query);`,
  'serve.mjs': `import { createInterface } from 'node:readline';
import { answer } from './ask.mjs';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, query } = JSON.parse(line);
  console.log(JSON.stringify({ id, answer: await answer(query) }));
}`,
  'program.mjs': `import { answer } from './ask.mjs';
console.log(await answer(process.argv[2]));`,
};
const KEY = 'sk-live-0123456789abcdefghij';

type Server = Awaited<ReturnType<typeof startChaos>>;
/** A model that reports its number of calls. One with a key requires it when `demands` is set. */
const demands = { key: undefined as string | undefined };
const startModel = async (): Promise<Server> => {
  let calls = 0;
  return startChaos(({ headers }, response) => {
    const isRefused =
      demands.key !== undefined && headers.authorization !== `Bearer ${demands.key}`;
    response.writeHead(isRefused ? 401 : 200, { 'content-type': 'application/json' });
    const content = `answer ${++calls}`;
    response.end(
      JSON.stringify({ model: 'm', choices: [{ message: { content }, finish_reason: 'stop' }] }),
    );
  });
};

let one: Server;
let two: Server;
let cwd: string;
beforeAll(async () => {
  [one, two] = await Promise.all([startModel(), startModel()]);
});
afterAll(() => Promise.all([one.close(), two.close()]));
beforeEach(() => {
  demands.key = undefined;
  cwd = makeDir({ 'ask.mjs': ASK, ...AGENTS, 'plan.json': JSON.stringify([`${one.url}/v1`]) });
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const spec = (runner: object, ...queries: readonly string[]): void =>
  writeFileSync(
    join(cwd, 'agentci_spec.yaml'),
    JSON.stringify({
      agent: 'a',
      runner,
      cassette: { dir: 'cassettes' },
      queries: queries.map((query) => ({
        id: query.replaceAll(' ', '-'),
        query,
        correctness: { expected_in_answer: ['answer'] },
      })),
    }),
  );
const plan = (...roots: readonly string[]): void =>
  writeFileSync(join(cwd, 'plan.json'), JSON.stringify(roots));
const calls = (): number[] => [one.requests.length, two.requests.length];
const nameOf = ({ url }: Server): string => `@localhost:${new URL(url).port}`;

interface Run {
  readonly results: readonly {
    readonly answer?: string;
    readonly error?: { readonly message: string };
  }[];
  readonly cassette: { readonly hits: number; readonly new: number; readonly asked: number };
}
const test = async (env: Record<string, string> = {}, ...args: readonly string[]) => {
  const { code, stdout, stderr } = await cli(['test', '-f', 'json', ...args], { cwd, env });
  expect(stderr).not.toContain('OPTION_INVALID');
  const { results, cassette } = JSON.parse(stdout) as Run;
  const errors = results.flatMap(({ error }) => error?.message ?? []);
  return {
    code,
    errors,
    answers: results.map(({ answer }) => answer),
    hits: cassette.hits,
    fresh: cassette.new,
  };
};

describe('"auto" with a model at an address in the agent’s code', () => {
  it.each([
    ['a command', { command: ['node', 'command.mjs'] }],
    ['a command that stays', { command: ['node', 'serve.mjs'], mode: 'serve' }],
    ['a module', { module: './module.mjs' }],
  ])(
    '%s replays known calls, and makes the others to the same address as the agent',
    async (_, runner) => {
      spec(runner, 'how deep', 'how wide');
      const first = await test();
      expect(first).toMatchObject({ code: 0, errors: [], hits: 0, fresh: 2 });
      const asked = calls();
      const second = await test();
      expect(second).toMatchObject({
        code: 0,
        errors: [],
        answers: first.answers,
        hits: 2,
        fresh: 0,
      });
      expect(calls()).toEqual(asked);
      spec(runner, 'how deep', 'how wide', 'how old');
      expect(await test()).toMatchObject({ code: 0, errors: [], hits: 2, fresh: 1 });
      expect(calls()).toEqual([asked[0]! + 1, asked[1]]);
      expect(await test({}, '--cassette', 'replay')).toMatchObject({
        code: 0,
        errors: [],
        hits: 3,
      });
    },
  );

  it('a captured program does so too, next to a model that a variable names', async () => {
    plan('named', `${two.url}/v1`);
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${one.url}/v1` };
    const capture = (query: string) =>
      cli(['capture', '--cassette', 'auto', '--', 'node', 'program.mjs', query], { cwd, env });
    const first = await capture('how deep');
    expect([first.code, first.stderr]).toEqual([0, expect.stringContaining('2 new')]);
    const asked = calls();
    const again = await capture('how deep');
    expect([again.code, again.stdout]).toEqual([0, first.stdout]);
    expect(again.stderr).toContain('2 calls replayed');
    expect(calls()).toEqual(asked);
    expect((await capture('how wide')).code).toBe(0);
    expect(calls()).toEqual(asked.map((count) => count + 1));
  });

  it('keeps to the recorded name of a server that has moved to another port', async () => {
    spec({ command: ['node', 'command.mjs'] }, 'how deep');
    plan(`${one.url}/v1`, `${one.url}/v1/x`);
    await test();
    plan(`${two.url}/v1`, `${two.url}/v1/y`);
    expect(await test()).toMatchObject({ code: 0, hits: 1, fresh: 1 });
    const text = readFileSync(join(cwd, 'cassettes', 'a', 'how-deep.jsonl'), 'utf8');
    expect(new Set(text.match(/(?<="provider":")[^"]*/g))).toEqual(new Set([nameOf(one)]));
    expect(await test()).toMatchObject({ code: 0, hits: 2, fresh: 0 });
  });

  it('knows a server by both of its names: its address, and the provider whose variable leads there', async () => {
    spec({ command: ['node', 'command.mjs'] }, 'how deep');
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${one.url}/v1` };
    await test();
    expect(await test(env)).toMatchObject({ code: 0, hits: 1, fresh: 0 });
    plan(`${one.url}/v1`, `${one.url}/v1/x`);
    expect(await test(env)).toMatchObject({ code: 0, hits: 1, fresh: 1 });
    expect(await test()).toMatchObject({ code: 0, hits: 2, fresh: 0 });
  });
});

describe('a recording of a model at an address in the agent’s code', () => {
  const check = async (env: Record<string, string> = {}) => {
    const { code, stdout } = await cli(['cassette', 'check', '--live', '1', '--json'], {
      cwd,
      env,
    });
    const { queries, live } = JSON.parse(stdout) as {
      readonly queries: readonly { readonly fit: string }[];
      readonly live: readonly { readonly same: boolean; readonly skipped?: string }[];
    };
    return { code, fits: queries.map(({ fit }) => fit), ...live[0] };
  };
  const file = (): string => join(cwd, 'cassettes', 'a', 'how-deep.jsonl');
  beforeEach(async () => {
    spec({ command: ['node', 'command.mjs'] }, 'how deep');
    await test();
  });

  it('is asked again at its address, and no key goes there', async () => {
    expect(await check({ OPENAI_API_KEY: KEY })).toMatchObject({
      code: 0,
      fits: ['fits'],
      same: true,
    });
    expect(one.requests.at(-1)).toMatchObject({ path: '/v1/chat/completions' });
    expect(JSON.stringify(one.requests.at(-1)?.headers)).not.toContain(KEY);
  });

  it('gets a key only if a user variable names the address, otherwise reports the reason', async () => {
    demands.key = KEY;
    const keyless = await check({ OPENAI_API_KEY: KEY });
    expect(keyless).toMatchObject({ code: 2, fits: ['fits'], same: false });
    expect(keyless.skipped).toMatch(
      /wants a key \(status 401\): keys are sent only to addresses that your own variables/,
    );
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${one.url}/v1` };
    expect(await check(env)).toMatchObject({ code: 0, fits: ['fits'], same: true });
  });

  it('is not asked if the file lacks the address', async () => {
    writeFileSync(file(), readFileSync(file(), 'utf8').replace('{"scheme":"http"}', '{}'));
    const before = calls();
    expect((await check()).skipped).toMatch(
      /does not say whether localhost:\d+ is asked over HTTP or HTTPS/,
    );
    expect(calls()).toEqual(before);
  });

  it.each(['@', '.', ''])(
    'is not asked at a host that a changed path leads to: %o',
    async (start) => {
      // Appended to an address, "@127.0.0.1:1" would be the host and the text before it a user.
      for (const provider of ['openai', nameOf(one)]) {
        const path =
          start === ''
            ? '/admin'
            : `${start}127.0.0.1:${new URL(two.url).port}/v1/chat/completions`;
        const text = readFileSync(file(), 'utf8')
          .replace(/"key":"[^"]*",/, '')
          .replace(/"provider":"[^"]*"/, `"provider":"${provider}"`)
          .replace(/"path":"[^"]*"/, `"path":"${path}"`);
        writeFileSync(file(), text);
        const before = calls();
        const { skipped } = await check({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: one.url });
        expect(skipped).toMatch(/is not that of a model at http/);
        expect(calls()).toEqual(before);
      }
    },
  );

  it('is recorded again', async () => {
    const before = calls();
    const { code, stdout } = await cli(['cassette', 'rerecord'], { cwd });
    expect([code, stdout.trim()]).toEqual([0, 'recorded how-deep']);
    expect(calls()).toEqual([before[0]! + 1, before[1]]);
  });
});
