import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI, cliProcess } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  before,
  callLine,
  connect,
  hello,
  lineOf,
  makeClient,
  SERVER,
  talk,
  textOf,
} from './mcp.ts';

const POLICY = `tools:
  deny: [search]
  send_email:
    arguments:
      to: {type: string, pattern: '@example\\.com$', required: true}
rules:
  - {type: before, first: authenticate, then: send_email}
  - {type: require, tool: read_inbox}
`;
const decision = (result: unknown) =>
  (result as { _meta?: Record<string, { rule: string }> })._meta?.['agentci/decision']?.rule;

describe('a guard before a server of the SDK', () => {
  test('refuses forbidden calls, shows only allowed tools, and its audit is reproduced offline', async () => {
    const cwd = tempDir({ 'policy.yaml': POLICY });
    const client = await connect(
      before(['guard', '--policy', 'policy.yaml', '--audit', 'audit.jsonl']),
      { cwd },
    );
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('search');
    expect(tools.map(({ name }) => name)).toContain('send_email');
    const call = (name: string, args: Record<string, unknown> = {}) =>
      client.callTool({ name, arguments: args });
    expect(decision(await call('search'))).toBe('E_TOOL_DENIED');
    const to = { to: 'a@example.com' };
    expect(decision(await call('send_email', to))).toBe('before:authenticate->send_email');
    expect(textOf(await call('authenticate'))).toContain('authenticate');
    expect(decision(await call('send_email', { to: 'a@evil.test' }))).toBe('argument to');
    expect(await call('send_email', to)).toMatchObject({
      content: [{ text: `send_email:${JSON.stringify(to)}` }],
    });
    expect(await call('fail')).toMatchObject({ isError: true });
    await client.close();
    expect(client.stderr()).toContain(
      'cannot be enforced by refusing calls: require:read_inbox (policy.yaml:8)',
    );
    const explained = await cliProcess(['policy', 'explain', 'audit.jsonl'], { cwd });
    expect(explained).toMatchObject({ code: 0 });
    expect(explained.stdout).toContain('6 of 6 decisions reproduced');
  });

  test('passes a session that nothing is refused in byte for byte', async () => {
    const cwd = tempDir({ 'policy.yaml': 'tools: {deny: [never]}\n' });
    const input = [
      hello(),
      lineOf({ jsonrpc: '2.0', id: 'l', method: 'tools/list' }),
      callLine(1, 'search', { n: 1 }),
      '{ "jsonrpc":"2.0" ,"id":2,"method":"tools/call","params":{"name":"nope","arguments":{"big":12345678901234567890}}}\r\n',
      lineOf({ jsonrpc: '2.0', id: 3, method: 'no/such' }),
    ];
    const bare = await talk([SERVER], input, { cwd });
    for (const mode of ['enforce', 'shadow']) {
      const guarded = await talk(
        before(['guard', '--policy', 'policy.yaml', '--mode', mode]),
        input,
        { cwd },
      );
      expect(guarded.stdout.toString()).toBe(bare.stdout.toString());
    }
  });

  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'refuses in protocol version %s',
    async (version) => {
      const cwd = tempDir({ 'policy.yaml': POLICY });
      const { messages } = await talk(
        before(['guard', '--policy', 'policy.yaml']),
        [hello(version), callLine(1, 'search')],
        { cwd },
      );
      expect(messages.find(({ id }) => id === 1)).toMatchObject({ result: { isError: true } });
    },
  );

  test('judges the last line of a client that does not end it', async () => {
    const cwd = tempDir({ 'policy.yaml': POLICY });
    const { messages } = await talk(
      before(['guard', '--policy', 'policy.yaml']),
      [hello(), callLine(1, 'search').trim()],
      { cwd },
    );
    expect(messages.find(({ id }) => id === 1)).toMatchObject({ result: { isError: true } });
  });

  test.each([
    ['a policy that is not there', ['--policy', 'no.yaml'], 'FILE_UNREADABLE'],
    ['a policy that is wrong', ['--policy', 'bad.yaml'], 'POLICY_INVALID'],
    ['no policy', [], 'OPTION_INVALID'],
    [
      'an audit that cannot be written',
      ['--policy', 'policy.yaml', '--audit', 'policy.yaml/x'],
      'GUARD_AUDIT',
    ],
    [
      'an audit that is something else',
      ['--policy', 'policy.yaml', '--audit', 'bad.yaml'],
      'GUARD_AUDIT',
    ],
  ])('does not start the server with %s', async (_, flags, code) => {
    const cwd = tempDir({ 'policy.yaml': POLICY, 'bad.yaml': 'tools: {deny: bad}\n' });
    const touch = `require('node:fs').writeFileSync('started', '')`;
    const outcome = await cliProcess(['guard', ...flags, '--', process.execPath, '-e', touch], {
      cwd,
    });
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain(code);
    expect(existsSync(join(cwd, 'started'))).toBe(false);
  });
});

describe('over HTTP', () => {
  test.each([
    ['events', []],
    ['JSON', ['--json']],
  ])('a client of the SDK is guarded, with answers as %s', async (_, flags) => {
    const cwd = tempDir({ 'policy.yaml': POLICY });
    const port = await firstLine(spawnIn(cwd, [SERVER, '--http', ...flags]).stdout!);
    const guard = spawnIn(cwd, [
      CLI,
      'guard',
      '--policy',
      'policy.yaml',
      '--audit',
      'audit.jsonl',
      '--url',
      `http://127.0.0.1:${port}/mcp`,
    ]);
    const url = /http:\S+\/mcp/.exec(await firstLine(guard.stderr!, /serving/))![0];
    const clients = [makeClient(), makeClient()];
    for (const client of clients) {
      await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
      onTestFinished(() => client.close());
    }
    const [one, two] = clients as [(typeof clients)[0], (typeof clients)[0]];
    expect((await one.listTools()).tools.map(({ name }) => name)).not.toContain('search');
    expect(decision(await one.callTool({ name: 'search', arguments: {} }))).toBe('E_TOOL_DENIED');
    await one.callTool({ name: 'authenticate', arguments: {} });
    const mail = { name: 'send_email', arguments: { to: 'a@example.com' } };
    expect(textOf(await one.callTool(mail))).toContain('send_email');
    // Another session has a separate history.
    expect(decision(await two.callTool(mail))).toBe('before:authenticate->send_email');
    await Promise.all(clients.map((client) => client.close()));
    const done = new Promise((resolve) => guard.once('exit', resolve));
    guard.kill('SIGTERM');
    await done;
    const explained = await cliProcess(['policy', 'explain', 'audit.jsonl'], { cwd });
    expect(explained.code).toBe(0);
  });

  test('web pages, other hosts and other paths are turned away', async () => {
    const cwd = tempDir({ 'policy.yaml': POLICY });
    const port = await firstLine(spawnIn(cwd, [SERVER, '--http']).stdout!);
    const guard = spawnIn(cwd, [
      CLI,
      'guard',
      '--policy',
      'policy.yaml',
      '--url',
      `http://127.0.0.1:${port}/mcp`,
    ]);
    const url = /http:\S+\/mcp/.exec(await firstLine(guard.stderr!, /serving/))![0];
    const post = (headers: Record<string, string>, address = url) =>
      fetch(address, {
        method: 'POST',
        body: callLine(1, 'search'),
        headers: { 'content-type': 'application/json', ...headers },
      });
    expect((await post({ origin: 'https://evil.test' })).status).toBe(403);
    expect((await post({}, url.replace('/mcp', '/other'))).status).toBe(404);
    expect((await post({ 'content-type': 'application/json; charset=utf-16' })).status).toBe(415);
    const modern = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'ping' };
    expect(await (await post(modern)).json()).toMatchObject({ id: 1, error: { code: -32020 } });
  });

  test('a tap records the session', async () => {
    const cwd = tempDir();
    const port = await firstLine(spawnIn(cwd, [SERVER, '--http']).stdout!);
    const tap = spawnIn(cwd, [
      CLI,
      'tap',
      '--out',
      'tap.jsonl',
      '--url',
      `http://127.0.0.1:${port}/mcp`,
    ]);
    const url = /http:\S+\/mcp/.exec(await firstLine(tap.stderr!, /serving/))![0];
    const client = makeClient();
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as never);
    expect(textOf(await client.callTool({ name: 'search', arguments: { q: 1 } }))).toContain(
      'search',
    );
    await client.close();
    expect(readFileSync(join(cwd, 'tap.jsonl'), 'utf8')).toContain(
      '"name":"search","arguments":{"q":1}',
    );
  });
});

describe('a cassette of a server', () => {
  const record = async (cwd: string) => {
    const client = await connect(before(['tap', '--cassette', 'record=tape.jsonl']), { cwd });
    await client.listTools();
    const first = await client.callTool({ name: 'search', arguments: { q: 'a', n: 1 } });
    await client.callTool({ name: 'search', arguments: { q: 'a', n: 1 } });
    await client.close();
    await expect.poll(() => existsSync(join(cwd, 'tape.jsonl')), { timeout: 8000 }).toBe(true);
    return first;
  };

  test('answers as the server did, without it, as often as it did', async () => {
    const cwd = tempDir();
    const first = await record(cwd);
    const client = await connect([CLI, 'tap', '--cassette', 'replay=tape.jsonl'], { cwd });
    expect((await client.listTools()).tools.length).toBeGreaterThan(3);
    expect(await client.callTool({ name: 'search', arguments: { n: 1, q: 'a' } })).toEqual(first);
    expect(await client.callTool({ name: 'search', arguments: { n: 1, q: 'a' } })).toEqual(first);
    await expect(client.callTool({ name: 'search', arguments: { n: 1, q: 'a' } })).rejects.toThrow(
      'asked 3 times, recorded 2',
    );
    await expect(client.callTool({ name: 'search', arguments: { n: 2, q: 'a' } })).rejects.toThrow(
      'differs at /arguments/n: recorded 1, asked 2',
    );
    await expect(client.callTool({ name: 'other', arguments: {} })).rejects.toThrow(
      'recorded were search',
    );
  });

  test('makes the run exit with 2 after a miss, though the client may hide it', async () => {
    const cwd = tempDir();
    await record(cwd);
    const hit = await talk(
      [CLI, 'tap', '--cassette', 'replay=tape.jsonl'],
      [hello(), callLine(1, 'search', { q: 'a', n: 1 })],
      { cwd },
    );
    expect(hit.code).toBe(0);
    expect(hit.stderr).toContain('1 recorded and not asked for');
    const miss = await talk(
      [CLI, 'tap', '--cassette', 'replay=tape.jsonl'],
      [hello(), callLine(1, 'search', { q: 'b' })],
      { cwd },
    );
    expect(miss.code).toBe(2);
    expect(miss.stderr).toContain('MCP_CASSETTE_MISS');
  });

  test('is not written when the server shows a secret', async () => {
    const cwd = tempDir();
    const secret = 'sk-test-0123456789abcdef';
    const input = [hello(), callLine(1, 'search', { q: secret })];
    const outcome = await talk(before(['tap', '--cassette', 'record=tape.jsonl']), input, {
      cwd,
      env: { SOME_API_KEY: secret },
    });
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain('CASSETTE_SECRET');
    expect(existsSync(join(cwd, 'tape.jsonl'))).toBe(false);
  });
});

describe('guard install', () => {
  test('wraps every server, once, and takes the guard out again', async () => {
    const config = {
      mcpServers: {
        office: { command: 'node', args: ['server.mjs', '--x'], env: { A: '1' } },
        bare: { command: 'srv' },
      },
      other: 1,
    };
    const cwd = tempDir({ 'policy.yaml': POLICY, '.mcp.json': config });
    const install = ['guard', 'install', '--config', '.mcp.json'];
    expect(
      await cliProcess([...install, '--policy', 'policy.yaml', '--audit', 'a.jsonl'], { cwd }),
    ).toMatchObject({
      code: 0,
    });
    const read = () => JSON.parse(readFileSync(join(cwd, '.mcp.json'), 'utf8')) as typeof config;
    const wrapped = read();
    const { args } = wrapped.mcpServers.office;
    expect(args.slice(args.indexOf('guard'))).toEqual([
      'guard',
      '--policy',
      join(cwd, 'policy.yaml'),
      '--server',
      'office',
      '--audit',
      join(cwd, 'a-office.jsonl'),
      '--',
      'node',
      'server.mjs',
      '--x',
    ]);
    expect(wrapped.mcpServers.office.env).toEqual({ A: '1' });
    await cliProcess([...install, '--policy', 'policy.yaml'], { cwd });
    expect(read()).toEqual(wrapped);
    expect(await cliProcess([...install, '--undo'], { cwd })).toMatchObject({ code: 0 });
    expect(read()).toEqual(config);
  });

  test('keeps who may read the file, and brings it back byte for byte', async () => {
    const written = '{"mcpServers" : {"a":{"command":"srv","env":{"KEY":"k"}}},\n\t"n": 1.0}';
    const cwd = tempDir({ 'policy.yaml': POLICY, '.mcp.json': written });
    const [file, backup] = [join(cwd, '.mcp.json'), join(cwd, '.mcp.json.before-guard')];
    chmodSync(file, 0o600);
    const install = ['guard', 'install', '--config', '.mcp.json'];
    const modes = () => [file, backup].map((path) => statSync(path).mode & 0o777);
    expect(await cliProcess([...install, '--policy', 'policy.yaml'], { cwd })).toMatchObject({
      code: 0,
    });
    expect(modes()).toEqual([0o600, 0o600]);
    expect(await cliProcess([...install, '--undo'], { cwd })).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(written);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(backup)).toBe(false);
  });

  test('keeps later changes in the configuration', async () => {
    const cwd = tempDir({
      'policy.yaml': POLICY,
      '.mcp.json': { mcpServers: { a: { command: 'srv' } } },
    });
    const file = join(cwd, '.mcp.json');
    await cliProcess(['guard', 'install', '--config', '.mcp.json', '--policy', 'policy.yaml'], {
      cwd,
    });
    const config = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
    writeFileSync(file, JSON.stringify({ ...config, added: true }));
    expect(
      await cliProcess(['guard', 'install', '--config', '.mcp.json', '--undo'], { cwd }),
    ).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      mcpServers: { a: { command: 'srv' } },
      added: true,
    });
    expect(existsSync(`${file}.before-guard`)).toBe(true);
  });

  test('says which servers it cannot wrap', async () => {
    const cwd = tempDir({
      'policy.yaml': POLICY,
      '.mcp.json': { mcpServers: { far: { url: 'https://x/mcp' } } },
    });
    const outcome = await cliProcess(
      ['guard', 'install', '--config', '.mcp.json', '--policy', 'policy.yaml'],
      { cwd },
    );
    expect(outcome.code).toBe(2);
    expect(outcome.stderr).toContain('GUARD_NOT_WRAPPED');
  });
});

function spawnIn(cwd: string, args: readonly string[]) {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

function firstLine(stream: NodeJS.ReadableStream, pattern = /./): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    stream.on('data', (chunk) => {
      text += chunk;
      const line = text
        .split('\n')
        .slice(0, -1)
        .find((each) => pattern.test(each));
      if (line !== undefined) resolve(line);
    });
  });
}
