import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ScriptedModel, startScriptedModel } from '@agentci/scripted-model';
import { cliProcess } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// A real MCP client with real servers. In replay, neither they nor the model exist.

const SDK = fileURLToPath(new URL('../agents/', import.meta.url));

/** A server that logs its calls to disk, so that tests notice if it runs. */
const SERVER = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
appendFileSync('served.log', 'started\\n');
let calls = 0;
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
  const progressToken = params?._meta?.progressToken;
  if (progressToken !== undefined) say({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
  if (process.env.ASK && method === 'tools/call') say({ id: 'q' + id, method: 'roots/list' });
  const result =
    method === 'initialize' ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'stock', version: '1' } }
    : method === 'tools/list' ? { tools: [{ name: 'count', inputSchema: { type: 'object' } }] }
    : { content: [{ type: 'text', text: params.arguments.item + ': ' + (10 + ++calls) + (process.env.LEAK ?? '') }] };
  setTimeout(() => say({ id, result }), progressToken === undefined ? 0 : 50);
});
`;
/** Calls the model, then the server as often as the query says, with the SDK's client. */
const AGENT = `
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
const require = createRequire(${JSON.stringify(`${SDK}x.mjs`)});
const { Client } = await import(require.resolve('@modelcontextprotocol/sdk/client/index.js'));
const { StdioClientTransport } = await import(require.resolve('@modelcontextprotocol/sdk/client/stdio.js'));
const connect = async () => {
  const { mcpServers } = JSON.parse(readFileSync(process.env.AGENTCI_MCP_CONFIG ?? '.mcp.json', 'utf8'));
  const client = new Client({ name: 'agent', version: '1' });
  await client.connect(new StdioClientTransport({ ...mcpServers.stock, env: process.env, cwd: process.cwd() }));
  return client;
};
export const answer = async (query, client) => {
  const reply = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY },
    body: JSON.stringify({ model: 'gpt-5-mini', messages: [{ role: 'user', content: query }] }),
  });
  const { choices } = await reply.json();
  const own = client ?? (await connect());
  const seen = [];
  let told = 0;
  const listen = process.env.LISTEN ? { onprogress: () => told++ } : undefined;
  for (const item of query.split(' ').filter((word) => word.startsWith('#')))
    seen.push((await own.callTool({ name: 'count', arguments: { item: process.env.ITEM ?? item, login: { password: process.env.PW } } }, undefined, listen)).content[0].text);
  if (listen !== undefined) seen.push('told ' + told);
  if (client === undefined) await own.close();
  return choices[0].message.content + ' ' + seen.join(', ');
};
export const open = connect;
`;
const COMMAND = `import { readFileSync } from 'node:fs'; import { answer } from './agent.mjs'; console.log(await answer(JSON.parse(readFileSync(0, 'utf8')).query));`;
const SERVE = `
import { createInterface } from 'node:readline';
import { answer, open } from './agent.mjs';
let client;
for await (const line of createInterface({ input: process.stdin })) {
  client ??= await open();
  console.log(JSON.stringify(await answer(JSON.parse(line).query, client)));
}
`;
const QUERIES = [
  {
    id: 'two',
    query: 'count #nuts #bolts',
    correctness: { expected_in_answer: ['#nuts: 11', '#bolts: 12'] },
  },
  {
    id: 'same',
    query: 'count #nuts #nuts',
    path: { max_tool_calls: 2 },
    correctness: { expected_in_answer: ['11'] },
  },
];
const STANDING_QUERIES = [
  {
    id: 'two',
    query: 'count #nuts #bolts',
    correctness: { expected_in_answer: ['#nuts: 11', '#bolts: 12'] },
  },
  {
    id: 'same',
    query: 'count #nuts #nuts',
    correctness: { expected_in_answer: ['#nuts: 13, #nuts: 14'] },
  },
];
const project = (runner: object, queries: object[] = QUERIES) =>
  tempDir({
    '.mcp.json': { mcpServers: { stock: { command: process.execPath, args: ['server.mjs'] } } },
    'server.mjs': SERVER,
    'agent.mjs': AGENT,
    'main.mjs': COMMAND,
    'serve.mjs': SERVE,
    'agentci_spec.yaml': {
      agent: 'stock',
      runner: { ...runner, capture: ['llm', 'mcp'], mcp_config: '.mcp.json' },
      cassette: { dir: 'cassettes' },
      queries,
    },
  });
const ONE_EACH = { command: [process.execPath, 'main.mjs'] };
const STANDING = { command: [process.execPath, 'serve.mjs'], mode: 'serve' };

let model: ScriptedModel;
beforeAll(async () => {
  model = await startScriptedModel({
    script: () => ({ text: 'In stock:', usage: { input: 5, output: 2 } }),
  });
});
afterAll(() => model.close());
const live = () => ({ OPENAI_API_KEY: 'sk-test-0123456789abcdefghij', OPENAI_BASE_URL: model.url });
const servedIn = (cwd: string): string => {
  try {
    return readFileSync(join(cwd, 'served.log'), 'utf8');
  } catch {
    return '';
  }
};

describe.each([
  ['that is started for each query', ONE_EACH, QUERIES],
  ['that stays for all queries', STANDING, STANDING_QUERIES],
])('an agent %s', (_, runner, queries) => {
  test('is recorded with its MCP servers, and replays without them', async () => {
    const cwd = project(runner, queries);
    const args = ['test', '-w', '1', '-f', 'json'];
    const recorded = await cliProcess([...args, '--cassette', 'record'], { cwd, env: live() });
    expect(recorded.code, recorded.stdout + recorded.stderr).toBe(0);
    expect(servedIn(cwd)).toContain('started');
    rmSync(join(cwd, 'served.log'));
    writeFileSync(join(cwd, 'server.mjs'), 'throw new Error("the server must not run")');
    for (let time = 0; time < 2; time++) {
      const replayed = await cliProcess([...args, '--cassette', 'replay'], { cwd });
      expect(replayed.code, replayed.stdout + replayed.stderr).toBe(0);
      const { cassette, results } = JSON.parse(replayed.stdout);
      expect(cassette).toMatchObject({
        hits: 2,
        misses: 0,
        isolated: true,
        planes: ['llm', 'mcp'],
        mcp_hits: 4,
      });
      expect(results.map(({ answer }: { answer: string }) => answer)).toEqual(
        JSON.parse(recorded.stdout).results.map(({ answer }: { answer: string }) => answer),
      );
      expect(results.map(({ path }: { path: { status: string } }) => path.status)).toEqual(
        JSON.parse(recorded.stdout).results.map(
          ({ path }: { path: { status: string } }) => path.status,
        ),
      );
    }
    expect(servedIn(cwd)).toBe('');
  });
});

test('a tool call with other arguments is a miss that names them, whatever the agent answers', async () => {
  const cwd = project(ONE_EACH);
  await cliProcess(['test', '--cassette', 'record'], { cwd, env: live() });
  const { code, stdout } = await cliProcess(['test', '-f', 'json', '--cassette', 'replay'], {
    cwd,
    env: { ITEM: '#screws' },
  });
  expect(code).toBe(2);
  const { results, cassette } = JSON.parse(stdout);
  expect(results[0].error.kind).toBe('cassette_miss');
  expect(results[0].error.message).toContain('MCP server "stock"');
  expect(results[0].error.message).toContain('#screws');
  expect(cassette.isolated).toBe(false);
});

test('with a recording without MCP the servers answer, and the run reports it', async () => {
  const cwd = project(ONE_EACH, [QUERIES[0]!]);
  await cliProcess(['test', '--cassette', 'record'], { cwd, env: live() });
  const file = join(cwd, 'cassettes', 'stock', 'two.jsonl');
  const lines = readFileSync(file, 'utf8').split('\n');
  const { mcp_calls, ...header } = JSON.parse(lines[0]!);
  expect(mcp_calls).toBeGreaterThan(2);
  writeFileSync(file, `${JSON.stringify(header)}\n${lines[1]}\n`);
  rmSync(join(cwd, 'served.log'));
  const { code, stdout } = await cliProcess(['test', '-f', 'json', '--cassette', 'replay'], {
    cwd,
  });
  expect(code).toBe(0);
  const { results, cassette } = JSON.parse(stdout);
  expect(cassette).toMatchObject({ planes: ['llm'], isolated: false });
  expect(results[0].warnings.map(({ code: one }: { code: string }) => one)).toContain(
    'CASSETTE_MCP_LIVE',
  );
  expect(servedIn(cwd)).toContain('started');
});

test('a secret in the answer of a server keeps the recording from being written', async () => {
  const cwd = project(ONE_EACH, [QUERIES[0]!]);
  const env = { ...live(), LEAK: ' ghp_0123456789abcdefghijABCDEFGHIJ012345' };
  const { code, stdout } = await cliProcess(['test', '-f', 'json', '--cassette', 'record'], {
    cwd,
    env,
  });
  expect(code).toBe(2);
  expect(stdout).toContain('CASSETTE_SECRET');
  expect(stdout).not.toContain('ghp_0123456789');
  expect(() => readFileSync(join(cwd, 'cassettes', 'stock', 'two.jsonl'))).toThrow();
});

test('a password among the arguments is not in the file, matches as another one, and must not be answered with', async () => {
  const cwd = project(ONE_EACH, [QUERIES[0]!]);
  const run = (mode: string, env: Record<string, string>) =>
    cliProcess(['test', '-f', 'json', '--cassette', mode], {
      cwd,
      env: { ...env, ...(mode === 'record' ? live() : {}) },
    });
  const leaked = await run('record', { PW: 'hunter2hunter2', LEAK: ' hunter2hunter2' });
  expect([leaked.code, leaked.stdout]).toEqual([2, expect.stringContaining('CASSETTE_SECRET')]);
  expect(leaked.stdout + leaked.stderr).not.toContain('hunter2');
  const file = join(cwd, 'cassettes', 'stock', 'two.jsonl');
  expect(() => readFileSync(file)).toThrow();
  expect((await run('record', { PW: 'hunter2hunter2' })).code).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain('"login":{"password":"[secret]"}');
  expect(readFileSync(file, 'utf8')).not.toContain('hunter2');
  expect((await run('replay', { PW: 'another-one-9' })).code).toBe(0);
  const missed = await run('replay', { PW: 'another-one-9', ITEM: '#screws' });
  expect([missed.code, JSON.parse(missed.stdout).results[0].error.message]).toEqual([
    2,
    expect.stringContaining('differs at /arguments/item'),
  ]);
  expect(JSON.parse(missed.stdout).results[0].error.message).not.toMatch(/hunter2|another-one/);
});

test('notifications of a server are replayed, and what it asks of the agent is a warning in both', async () => {
  const queries = [{ ...QUERIES[0]!, correctness: { expected_in_answer: ['#bolts: 12, told 2'] } }];
  const cwd = project(ONE_EACH, queries);
  for (const mode of ['record', 'replay']) {
    const env = { LISTEN: '1', ASK: '1', ...(mode === 'record' ? live() : {}) };
    const { code, stdout } = await cliProcess(['test', '-f', 'json', '--cassette', mode], {
      cwd,
      env,
    });
    expect(code, stdout).toBe(0);
    expect(JSON.parse(stdout).results[0].warnings).toContainEqual({
      code: 'MCP_CASSETTE_LEFT_OUT',
      message: expect.stringContaining('2 messages that the server sent unasked (2 roots/list)'),
    });
  }
  const text = readFileSync(join(cwd, 'cassettes', 'stock', 'two.jsonl'), 'utf8');
  expect(text).toContain('"notifications":[{"method":"notifications/progress"');
  expect(text).toContain('"left_out":{"roots/list":1}');
});

test('a damaged line of a server is refused at its place', async () => {
  const cwd = project(ONE_EACH, [QUERIES[0]!]);
  await cliProcess(['test', '--cassette', 'record'], { cwd, env: live() });
  const file = join(cwd, 'cassettes', 'stock', 'two.jsonl');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"server":"stock"', '"sever":"stock"'));
  const { code, stdout } = await cliProcess(['test', '-f', 'json', '--cassette', 'replay'], {
    cwd,
  });
  expect(code).toBe(2);
  expect(stdout).toContain('CASSETTE_DAMAGED');
  expect(stdout).toMatch(/two\.jsonl:\d+/);
});

describe('recorded calls to MCP servers that nothing serves are unused', () => {
  const recorded = async () => {
    const cwd = project(ONE_EACH, [QUERIES[0]!]);
    const { code } = await cliProcess(['test', '--cassette', 'record'], { cwd, env: live() });
    expect(code).toBe(0);
    rmSync(join(cwd, 'served.log'));
    return cwd;
  };
  const withoutMcp = (cwd: string, runner: object): void => {
    const path = join(cwd, 'agentci_spec.yaml');
    writeFileSync(
      path,
      JSON.stringify({
        ...JSON.parse(readFileSync(path, 'utf8')),
        runner: { ...ONE_EACH, ...runner },
      }),
    );
  };

  test.each([
    ['has no capture any more', {}],
    ['captures calls of models alone', { capture: ['llm'] }],
  ])('when the runner %s', async (_, runner) => {
    const cwd = await recorded();
    withoutMcp(cwd, runner);
    const { code, stdout } = await cliProcess(['test', '-f', 'json', '--cassette', 'replay'], {
      cwd,
    });
    const { cassette, results } = JSON.parse(stdout);
    expect([code, cassette]).toEqual([
      0,
      expect.objectContaining({
        hits: 1,
        unused: 2,
        mcp_unused: 2,
        isolated: false,
        planes: ['llm'],
      }),
    ]);
    expect(results[0].warnings).toEqual([
      {
        code: 'CASSETTE_UNUSED',
        message: expect.stringContaining('set "capture: [llm, mcp]" on the runner'),
      },
    ]);
    expect(servedIn(cwd)).toContain('started');
    expect((await cliProcess(['test', '--cassette', 'replay', '--strict'], { cwd })).code).toBe(2);
    const checked = await cliProcess(['cassette', 'check', '--json'], { cwd });
    expect([checked.code, JSON.parse(checked.stdout).queries]).toEqual([
      1,
      [expect.objectContaining({ fit: 'unused calls', message: expect.stringContaining('MCP') })],
    ]);
    expect((await cliProcess(['cassette', 'prune', '--unused'], { cwd })).stdout).toContain(
      'left 2 calls to MCP servers in two',
    );
  });

  test('when the agent no longer makes them', async () => {
    const cwd = await recorded();
    writeFileSync(
      join(cwd, 'agent.mjs'),
      AGENT.replace(
        'await own.callTool(',
        'await (async () => ({ content: [{ text: "#nuts: 11 #bolts: 12" }] }))(',
      ),
    );
    const { code, stdout } = await cliProcess(
      ['test', '-f', 'json', '--cassette', 'replay', '--strict'],
      {
        cwd,
      },
    );
    expect([code, JSON.parse(stdout).cassette]).toEqual([
      2,
      expect.objectContaining({ hits: 1, unused: 2, mcp_unused: 2, planes: ['llm', 'mcp'] }),
    ]);
    expect((await cliProcess(['cassette', 'check'], { cwd })).code).toBe(1);
  });

  test('when a program is captured without its configuration', async () => {
    const cwd = project(ONE_EACH, []);
    writeFileSync(
      join(cwd, 'once.mjs'),
      "import { answer } from './agent.mjs'; console.log(await answer('count #nuts'));",
    );
    const capture = (mode: string, ...more: string[]) =>
      cliProcess(['capture', '--cassette', mode, ...more, '--', process.execPath, 'once.mjs'], {
        cwd,
        env: live(),
      });
    expect((await capture('record', '--mcp-config', '.mcp.json')).code).toBe(0);
    const frozen = await capture('replay', '--mcp-config', '.mcp.json');
    expect([frozen.code, frozen.stderr]).toEqual([
      0,
      expect.not.stringContaining('CASSETTE_UNUSED'),
    ]);
    const left = await capture('replay=cassettes');
    expect(left.stderr).toMatch(/holds 1 call to MCP servers.*--mcp-config.*CASSETTE_UNUSED/);
    expect(left.stderr).toContain('not isolated');
  });
});
