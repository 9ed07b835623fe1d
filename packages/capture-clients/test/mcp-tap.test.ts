import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLI, cliProcess } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, test } from 'vitest';
import { before, callLine, connect, hello, lineOf, SERVER, talk, textOf } from './mcp.ts';

const tapLines = (path: string): { dir: string; message: Record<string, unknown> }[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

describe('a tap between a client and a server of the SDK', () => {
  test('passes every byte on and writes the messages down', async () => {
    const cwd = tempDir({ 'p.yaml': 'tools: {deny: [x]}\n' });
    const input = [hello(), callLine(1, 'search', { q: 'a  b', big: 1 }), callLine(2, 'nope')];
    const bare = await talk([SERVER], input, { cwd });
    const tapped = await talk(before(['tap', '--out', 'tap.jsonl']), input, { cwd });
    expect(tapped.stdout.equals(bare.stdout)).toBe(true);
    expect(tapped.code).toBe(bare.code);
    expect(
      tapLines(join(cwd, 'tap.jsonl')).map(({ message }) => message.method ?? 'answer'),
    ).toEqual(
      expect.arrayContaining(['initialize', 'notifications/initialized', 'tools/call', 'answer']),
    );
    const explained = await cliProcess(
      ['policy', 'explain', '-p', 'p.yaml', '--traces', 'tap.jsonl'],
      {
        cwd,
      },
    );
    expect(explained.stdout).toContain('search');
  });

  test('passes concurrent, cancelled and large calls, progress, and what the server asks of the client', async () => {
    const cwd = tempDir();
    const client = await connect(before(['tap', '--out', 'tap.jsonl']), { cwd });
    client.setRequestHandler(ListRootsRequestSchema, async () => ({
      roots: [{ uri: 'file:///a' }],
    }));
    client.setRequestHandler(CreateMessageRequestSchema, async () => ({
      model: 'm',
      role: 'assistant' as const,
      content: { type: 'text' as const, text: 'hi' },
    }));
    client.setRequestHandler(ElicitRequestSchema, async () => ({
      action: 'accept' as const,
      content: { name: 'Ada' },
    }));
    const progress: number[] = [];
    const cancel = new AbortController();
    const cancelled = client
      .callTool({ name: 'slow', arguments: { ms: 5000 } }, undefined, { signal: cancel.signal })
      .catch((error: Error) => error.message);
    const results = await Promise.all([
      client.callTool({ name: 'slow', arguments: { ms: 300 } }, undefined, {
        onprogress: ({ progress: at }) => progress.push(at),
      }),
      client.callTool({ name: 'big', arguments: { size: 3_000_000 } }),
      client.callTool({ name: 'ask', arguments: {} }),
      client.callTool({ name: 'search', arguments: { q: '☃'.repeat(500_000) } }),
    ]);
    cancel.abort('enough');
    expect(await cancelled).toContain('enough');
    expect(textOf(results[0])).toBe('done');
    expect(textOf(results[1])).toHaveLength(3_000_000);
    expect(JSON.parse(textOf(results[2]))).toEqual({
      roots: 1,
      sampled: 'hi',
      asked: { name: 'Ada' },
    });
    expect(textOf(results[3])).toContain('☃☃');
    await client.close();
    const lines = tapLines(join(cwd, 'tap.jsonl'));
    const told = lines.flatMap(({ message }) =>
      message.method === 'notifications/progress'
        ? [(message.params as { progress: number }).progress]
        : [],
    );
    expect(told.slice(0, 2)).toEqual([1, 2]);
    // The SDK drops notifications that arrive together with the result.
    expect(told.slice(0, progress.length)).toEqual(progress);
    const methods = lines.map(({ dir, message }) => `${dir} ${message.method ?? 'answer'}`);
    expect(methods).toEqual(
      expect.arrayContaining([
        's2c roots/list',
        's2c sampling/createMessage',
        's2c elicitation/create',
        'c2s notifications/cancelled',
        's2c notifications/progress',
      ]),
    );
  });

  test('keeps the values of secrets out of the file', async () => {
    const cwd = tempDir();
    const secret = 'sk-test-0123456789abcdef';
    await talk(
      before(['tap', '--out', 'tap.jsonl']),
      [hello(), callLine(1, 'search', { q: secret })],
      {
        cwd,
        env: { SOME_API_KEY: secret },
      },
    );
    expect(readFileSync(join(cwd, 'tap.jsonl'), 'utf8')).toContain('[SOME_API_KEY]');
    expect(readFileSync(join(cwd, 'tap.jsonl'), 'utf8')).not.toContain(secret);
  });

  test('does not write over a recording', async () => {
    const cwd = tempDir({ 'tap.jsonl': 'mine' });
    await talk(before(['tap', '--out', 'tap.jsonl']), [hello()], { cwd });
    expect(readFileSync(join(cwd, 'tap.jsonl'), 'utf8')).toBe('mine');
    expect(readdirSync(cwd).sort()).toEqual(['tap-2.jsonl', 'tap.jsonl']);
  });

  test.each([
    ['a server that does not exist', ['tap', '--', './no-such-server'], 'PROGRAM_NOT_STARTED'],
    ['no server', ['tap'], 'OPTION_INVALID'],
    ['an address that is not one', ['tap', '--url', 'ftp://x'], 'OPTION_INVALID'],
  ])('%s ends with exit code 2', async (_, args, code) => {
    const outcome = await cliProcess(args, { cwd: tempDir() });
    expect(outcome).toMatchObject({ code: 2, stdout: '' });
    expect(outcome.stderr).toContain(code);
  });

  test('ends with the code of the server', async () => {
    const { code } = await cliProcess(['tap', '--', process.execPath, '-e', 'process.exit(7)'], {
      cwd: tempDir(),
    });
    expect(code).toBe(7);
  });
});

/** `MCP_KILLS=100` for the long version. */
const KILLS = Number(process.env.MCP_KILLS ?? 30);

describe('no process is left behind', () => {
  test('after many kills of the client, some of a server that ignores every signal and the end of its input', async () => {
    const cwd = tempDir({ 'p.yaml': 'tools: {deny: [x]}\n' });
    const mark = `mark-${process.pid}-${Date.now()}`;
    const clientCode = `
      const { spawn } = require('node:child_process');
      const child = spawn(process.execPath, JSON.parse(process.env.ARGS), { stdio: ['pipe', 'pipe', 'ignore'] });
      child.stdin.write(process.env.HELLO);
      child.stdout.once('data', () => process.send('up'));
    `;
    const kill = async (i: number): Promise<void> => {
      const use = i % 2 === 0 ? ['tap', '--out', `t${i}.jsonl`] : ['guard', '--policy', 'p.yaml'];
      const args = [
        CLI,
        ...use,
        '--',
        process.execPath,
        '-e',
        i % 5 === 0 ? STUBBORN : PLAIN,
        mark,
      ];
      const client = spawn(process.execPath, ['-e', clientCode], {
        cwd,
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        env: { ...process.env, ARGS: JSON.stringify(args), HELLO: hello() },
      });
      await new Promise((resolve) => client.once('message', resolve));
      const gone = new Promise((resolve) => client.once('exit', resolve));
      client.kill('SIGKILL');
      await gone;
    };
    for (let i = 0; i < KILLS; i += 5) await Promise.all([0, 1, 2, 3, 4].map((k) => kill(i + k)));
    for (let i = 0; i < 100 && running(mark).length > 0; i++) await sleep(100);
    expect(running(mark)).toEqual([]);
  }, 240_000);

  test('of what the server itself had started', async () => {
    const cwd = tempDir();
    const mark = `mark-${process.pid}-${Date.now()}`;
    const server = `require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '${mark}'], { stdio: 'inherit' }); process.stdin.on('end', () => process.exit(3)).resume();`;
    const { code } = await cliProcess(['tap', '--', process.execPath, '-e', server], { cwd });
    expect(code).toBe(3);
    await sleep(200);
    expect(running(mark)).toEqual([]);
  });

  test.runIf(process.platform === 'linux')(
    'descendants of the server in a separate session',
    async () => {
      const cwd = tempDir();
      const mark = `mark-${process.pid}-${Date.now()}`;
      const server = `require('node:child_process').spawn('setsid', [process.execPath, '-e', 'setInterval(() => {}, 1000)', '${mark}'], { stdio: 'ignore', detached: true }).unref(); process.stdin.on('end', () => setTimeout(() => process.exit(3), 300)).resume();`;
      const { code } = await cliProcess(['tap', '--', process.execPath, '-e', server], { cwd });
      expect(code).toBe(3);
      await sleep(200);
      expect(running(mark)).toEqual([]);
    },
  );
});

describe('what a tap writes and what a cassette is', () => {
  test('a text that looks like a credential is not written, and what reads the file knows that it is not whole', async () => {
    const cwd = tempDir({ 'agentci_spec.yaml': 'agent: a\nqueries: []\n' });
    const token = `ghp_${'aB3dE6gH9'.repeat(4)}`;
    await talk(
      before(['tap', '--out', 'tap.jsonl']),
      [hello(), callLine(1, 'search', { q: token })],
      { cwd },
    );
    const text = readFileSync(join(cwd, 'tap.jsonl'), 'utf8');
    expect([text.includes(token), text.includes('[api_key]')]).toEqual([false, true]);
    expect(tapLines(join(cwd, 'tap.jsonl')).some((line) => 'masked' in line)).toBe(true);
    await talk(
      before(['tap', '--unmasked', '--out', 'all.jsonl']),
      [hello(), callLine(1, 'search', { q: token })],
      {
        cwd,
      },
    );
    expect(readFileSync(join(cwd, 'all.jsonl'), 'utf8')).toContain(token);
  });

  test('--out with --cassette is refused rather than ignored', async () => {
    const { code, stderr } = await cliProcess(
      ['tap', '--cassette', 'record=a.jsonl', '--out', 'b.jsonl', '--', 'node'],
      {
        cwd: tempDir(),
      },
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining('OPTIONS_CONFLICT')]);
  });

  test('a replay in which no tool was called proves nothing', async () => {
    const cwd = tempDir();
    await talk(
      before(['tap', '--cassette', 'record=tape.jsonl']),
      [hello(), callLine(1, 'search', { q: 'x' })],
      {
        cwd,
      },
    );
    const replay = (lines: readonly string[]) =>
      talk([CLI, 'tap', '--cassette', 'replay=tape.jsonl'], lines, { cwd });
    expect((await replay([hello()])).code).toBe(2);
    expect((await replay([hello(), callLine(1, 'search', { q: 'x' })])).code).toBe(0);
  });

  const LIST = lineOf({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const RESOURCE = lineOf({ jsonrpc: '2.0', id: 1, method: 'resources/list' });

  test.each([
    ['lists the tools', [hello(), LIST]],
    ['only shakes hands', [hello()]],
    [
      'asks for what the server does not have',
      [hello(), RESOURCE, lineOf({ jsonrpc: '2.0', id: 2, method: 'no/such' })],
    ],
    [
      'calls a tool twice',
      [hello(), callLine(1, 'search', { q: 'x' }), callLine(2, 'search', { q: 'x' })],
    ],
  ])('the recording of a client that %s replays with exit code 0', async (_, input) => {
    const cwd = tempDir();
    const recorded = await talk(before(['tap', '--cassette', 'record=tape.jsonl']), input, { cwd });
    expect(recorded.code, recorded.stderr).toBe(0);
    const replayed = await talk([CLI, 'tap', '--cassette', 'replay=tape.jsonl'], input, { cwd });
    expect(replayed.code, replayed.stderr).toBe(0);
    const answers = (messages: readonly Record<string, unknown>[]) =>
      messages.filter(({ id }) => id !== undefined).sort((a, b) => Number(a.id) - Number(b.id));
    expect(answers(replayed.messages)).toEqual(answers(recorded.messages));
  });

  test.each([
    ['a server that fails at its start', ['-e', 'process.exit(7)'], '', 7, 'CASSETTE_EMPTY'],
    ['a client that says nothing', [SERVER], '', 0, 'CASSETTE_EMPTY'],
    ['a client that calls nothing', [SERVER], hello(), 0, 'MCP_CASSETTE_KEPT'],
    [
      'a call that is not answered',
      ['-e', 'process.stdin.resume()'],
      callLine(1, 'x'),
      0,
      'CASSETTE_INCOMPLETE',
    ],
  ])('%s does not cost the earlier recording', async (_, server, input, serverCode, why) => {
    const cwd = tempDir();
    const record = ['tap', '--cassette', 'record=tape.jsonl'];
    await talk(before(record), [hello(), callLine(1, 'search', { q: 'x' })], { cwd });
    const tape = readFileSync(join(cwd, 'tape.jsonl'), 'utf8');
    const child = spawn(process.execPath, [CLI, ...record, '--', process.execPath, ...server], {
      cwd,
    });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.stdin.on('error', () => {});
    child.stdout.once('data', () => child.stdin.end());
    if (input === '') child.stdin.end();
    else child.stdin.write(input);
    if (why === 'CASSETTE_INCOMPLETE') setTimeout(() => child.stdin.end(), 1500);
    const [code] = (await once(child, 'close')) as [number];
    expect([code, said]).toEqual([serverCode === 0 ? 2 : serverCode, expect.stringContaining(why)]);
    expect([readFileSync(join(cwd, 'tape.jsonl'), 'utf8'), readdirSync(cwd)]).toEqual([
      tape,
      ['tape.jsonl'],
    ]);
  });

  test.each([
    ['a text', (path: string) => writeFileSync(path, '# my notes\n')],
    [
      'JSON lines of something else',
      (path: string) => writeFileSync(path, '{"dir":"c2s"}\n{"a":1}\n'),
    ],
    [
      'a cassette of a suite',
      (path: string) => writeFileSync(path, '{"schema":"agentci.cassette/1"}\n'),
    ],
    [
      'a recording that was cut short',
      (path: string) => writeFileSync(path, '{"ts":"","dir":"c2s","mess'),
    ],
    ['a folder', (path: string) => mkdirSync(path)],
    [
      'a link out of the folder',
      (path: string) => symlinkSync(join(tempDir({ victim: 'mine' }), 'victim'), path),
    ],
    ['a link to nothing', (path: string) => symlinkSync('nowhere', path)],
  ])('%s in the place of a recording is refused before the server is started', async (_, put) => {
    const cwd = tempDir();
    const path = join(cwd, 'tape.jsonl');
    put(path);
    const read = (): string =>
      existsSync(path) && !_.includes('folder') ? readFileSync(path, 'utf8') : '';
    const found = read();
    const server = 'require("node:fs").writeFileSync("started", "")';
    const { code, stderr } = await cliProcess(
      ['tap', '--cassette', 'record=tape.jsonl', '--', process.execPath, '-e', server],
      {
        cwd,
      },
    );
    expect([code, stderr]).toEqual([2, expect.stringContaining('CASSETTE_PLACE')]);
    expect([read(), readdirSync(cwd)]).toEqual([found, ['tape.jsonl']]);
  });

  test('an empty file is written to, and is not a recording to answer from', async () => {
    const cwd = tempDir({ 'tape.jsonl': '' });
    const { code, stderr } = await cliProcess(['tap', '--cassette', 'replay=tape.jsonl'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringContaining('CASSETTE_EMPTY')]);
    const recorded = await talk(
      before(['tap', '--cassette', 'record=tape.jsonl']),
      [hello(), LIST],
      { cwd },
    );
    expect([recorded.code, tapLines(join(cwd, 'tape.jsonl')).length]).toEqual([0, 5]);
  });

  test.each(['plain', 'record'])(
    'a key that a server over HTTP says back is not in a %s file',
    async (mode) => {
      const cwd = tempDir();
      const key = 'a-key-of-no-known-form-4711';
      const upstream = createServer((request, response) => {
        request.resume();
        response.writeHead(200, { 'content-type': 'application/json' });
        const text = `you are ${request.headers.authorization}`;
        response.end(
          JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } }),
        );
      }).listen(0, '127.0.0.1');
      await once(upstream, 'listening');
      const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/mcp`;
      const place = mode === 'plain' ? ['--out', 'tap.jsonl'] : ['--cassette', 'record=tap.jsonl'];
      const child = spawn(process.execPath, [CLI, 'tap', '--url', url, ...place], { cwd });
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      while (!said.includes('serving')) await sleep(20);
      const address = /serving (\S+)/.exec(said)![1]!;
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const reply = await fetch(address, { method: 'POST', headers, body: callLine(1, 'who') });
      expect(await reply.text()).toContain(key);
      child.kill('SIGINT');
      await once(child, 'close');
      upstream.close();
      if (mode === 'plain') expect(readFileSync(join(cwd, 'tap.jsonl'), 'utf8')).not.toContain(key);
      else
        expect([existsSync(join(cwd, 'tap.jsonl')), said]).toEqual([
          false,
          expect.stringContaining('CASSETTE_SECRET'),
        ]);
    },
  );
});

describe('a message without end', () => {
  test('passes, and is noted as not kept', async () => {
    const cwd = tempDir();
    const server =
      'process.stdin.on("data", (chunk) => process.stdout.write(chunk)).on("end", () => process.exit(0));';
    const size = 70 * 1024 * 1024;
    const input = Buffer.concat([
      Buffer.alloc(size, 'x'),
      Buffer.from(`\n${lineOf({ jsonrpc: '2.0', id: 1, method: 'ping' })}`),
    ]);
    const seen = await echo(
      ['tap', '--out', 'tap.jsonl', '--', process.execPath, '-e', server],
      input,
      cwd,
    );
    expect(seen).toBe(input.length);
    const kinds = readFileSync(join(cwd, 'tap.jsonl'), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => Object.keys(JSON.parse(line))[2]);
    expect(kinds.sort()).toEqual(['dropped', 'dropped', 'message', 'message']);
  });
});

/** Minimal servers, because only their processes matter here. */
const PLAIN =
  'process.stdin.on("data", () => process.stdout.write("{}\\n")).on("end", () => process.exit(0))';
const STUBBORN =
  'for (const s of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(s, () => {}); setInterval(() => {}, 1000); process.stdin.on("data", () => process.stdout.write("{}\\n"))';

function running(mark: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return (
          readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark) &&
          Number(name) !== process.pid
        );
      } catch {
        return false;
      }
    });
}

async function echo(args: readonly string[], input: Buffer, cwd: string): Promise<number> {
  const child = spawn(process.execPath, [CLI, ...args], { cwd, stdio: ['pipe', 'pipe', 'ignore'] });
  let seen = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen >= input.length) child.stdin.end();
  });
  child.stdin.write(input);
  await new Promise((resolve) => child.once('close', resolve));
  return seen;
}
