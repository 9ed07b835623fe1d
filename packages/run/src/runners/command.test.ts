import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { createCommandRunner } from './command.ts';

const run = (code: string, { query = 'hi', watchResources = false } = {}) => {
  const dir = tempDir({ 'sub/agent.js': code });
  const config = {
    kind: 'command',
    command: [process.execPath, 'agent.js'],
    cwd: 'sub',
    env: { MODE: 'test' },
  } as const;
  const runner = createCommandRunner(config, {
    dir,
    env: { ...process.env, MODE: 'of the machine' },
    timeoutMs: 1000,
    workers: 1,
    watchResources,
  });
  return runner.run({
    query,
    id: 'q1',
    run: 1,
    metadata: { a: 1 },
    signal: new AbortController().signal,
  });
};

test('gives the query as JSON on stdin and the environment of the spec', async () => {
  const code =
    'let t = ""; process.stdin.on("data", (c) => t += c).on("end", () => console.log(t + process.env.MODE))';
  expect(await run(code)).toMatchObject({
    value: '{"query":"hi","id":"q1","run":1,"metadata":{"a":1},"vars":{}}test\n',
  });
});

test('keeps stderr for the report', async () => {
  expect(await run('console.error("thinking"); console.log("ok")')).toMatchObject({
    value: 'ok\n',
    stderr: 'thinking\n',
  });
});

test.each([
  {
    what: 'exits non-zero',
    code: 'console.error("first\\nthe reason"); process.exit(3)',
    message: /code 3: the reason/,
  },
  { what: 'prints nothing', code: '', message: /nothing/ },
  {
    what: 'prints only on stderr',
    code: 'console.error("no key")',
    message: /nothing on stdout: no key$/,
  },
  {
    what: 'prints bytes that are not text',
    code: 'process.stdout.write(Buffer.from([0xff, 0xfe, 0x41]))',
    message: /UTF-8/,
  },
  { what: 'prints binary data', code: 'process.stdout.write("a\\0b")', message: /binary/ },
  {
    what: 'prints 50 MB',
    code: 'const x = "x".repeat(1 << 20); let n = 0; const f = () => { if (n++ < 50) process.stdout.write(x, f) }; f()',
    message: /10 MB/,
  },
  { what: 'kills itself', code: 'process.kill(process.pid, "SIGKILL")', message: /SIGKILL/ },
])('an agent that $what gives an error with the reason', async ({ code, message }) => {
  await expect(run(code)).rejects.toMatchObject({
    name: 'AgentError',
    kind: 'agent',
    message: expect.stringMatching(message),
  });
});

test('an agent that fails keeps all it printed on stderr for the report', async () => {
  await expect(run('console.error("first\\nlast"); process.exit(3)')).rejects.toMatchObject({
    stderr: 'first\nlast\n',
  });
});

test('a program that cannot be started is not retried', async () => {
  const config = { kind: 'command', command: ['no-such-program-here'] } as const;
  const runner = createCommandRunner(config, {
    dir: tempDir(),
    env: process.env,
    timeoutMs: 1000,
    workers: 1,
  });
  await expect(
    runner.run({ query: 'hi', id: 'q1', run: 1, signal: new AbortController().signal }),
  ).rejects.toMatchObject({
    kind: 'agent',
    message: expect.stringContaining('"no-such-program-here" could not be started'),
  });
});

test.skipIf(process.platform !== 'linux').each([
  { watchResources: true, samples: 1 },
  { watchResources: false, samples: 0 },
])(
  'reports the resource usage only on request: $watchResources',
  async ({ watchResources, samples }) => {
    const { resources = [] } = await run('console.log("ok")', { watchResources });
    expect(resources.filter(({ source }) => source === 'measured')).toHaveLength(samples);
  },
);

test.each([
  {
    what: 'the program is not installed',
    config: { command: ['no-such-program'] },
    message: /on the PATH/,
  },
  { what: 'the file is not there', config: { command: ['./agent.sh'] }, message: /no such file/ },
  {
    what: 'the file may not be run',
    config: { command: ['./agent.js'] },
    message: /may not be executed/,
  },
  {
    what: 'the folder is not there',
    config: { command: ['node'], cwd: 'nope' },
    message: /no folder "nope"/,
  },
])('reports when $what', async ({ config, message }) => {
  const dir = tempDir({ 'agent.js': '' });
  const around = { dir, env: process.env, timeoutMs: 1000, workers: 1 };
  const runner = createCommandRunner({ kind: 'command', ...config }, around);
  const request = { query: 'q', id: 'q', run: 1, signal: new AbortController().signal };
  await expect(runner.run(request)).rejects.toMatchObject({
    message: expect.stringMatching(message),
  });
});
