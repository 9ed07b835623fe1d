import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { createModuleCaller, createModuleRunner } from './module.ts';
import type { Runner, Watch } from './runner.ts';

let runner: Runner | undefined;
afterEach(() => runner?.close());

const start = (
  files: Record<string, string | undefined>,
  { module = Object.keys(files)[0]!, exported = 'default', env = {}, own = {} } = {},
): Runner => {
  runner = createModuleRunner(
    { kind: 'module', module, export: exported, env: own },
    { dir: tempDir(files), env, timeoutMs: 1000, workers: 2 },
  );
  return runner;
};
const ask = (query: string, signal = new AbortController().signal) => ({
  query,
  id: 'q1',
  run: 1,
  metadata: { a: 1 },
  signal,
});

test.each([
  {
    kind: 'JavaScript',
    files: { 'agent.mjs': 'export default async (query) => query.toUpperCase()' },
  },
  {
    kind: 'CommonJS',
    files: { 'agent.cjs': 'module.exports = async (query) => query.toUpperCase()' },
  },
  {
    kind: 'TypeScript',
    files: {
      'agent.ts': 'export default async (query: string): Promise<string> => query.toUpperCase()',
    },
  },
])('runs a $kind module', async ({ files }) => {
  expect(await start(files).run(ask('hi'))).toMatchObject({ value: 'HI' });
});

test('runs a TypeScript module that imports another one', async () => {
  const files = {
    'agent.ts': `import { shout } from './shout.ts';\nexport const agent = (q: string) => shout(q);`,
    'shout.ts': 'export const shout = (q: string) => `${q}!`;',
  };
  expect(await start(files, { exported: 'agent' }).run(ask('hi'))).toMatchObject({ value: 'hi!' });
});

test('gives the agent its id, run, metadata, environment and signal', async () => {
  const files = {
    'agent.mjs':
      'export default (q, { id, run, metadata, signal }) => ({ answer: JSON.stringify([id, run, metadata, signal instanceof AbortSignal, process.env.MODE]) })',
  };
  const { value } = await start(files, {
    env: { MODE: 'of the machine' },
    own: { MODE: 'test' },
  }).run(ask('hi'));
  expect(JSON.parse((value as { answer: string }).answer)).toEqual([
    'q1',
    1,
    { a: 1 },
    true,
    'test',
  ]);
});

test('can be made ready before its first query, which then waits for nothing', async () => {
  const cold = start({
    'agent.mjs': "await new Promise((done) => setTimeout(done, 300)); export default () => 'ok'",
  });
  await cold.warm!();
  const { value, coldStartMs } = await cold.run(ask('hi'));
  expect(value).toBe('ok');
  expect(coldStartMs).toBeLessThan(300);
});

test('a module that cannot be loaded is reported by its query, not by the warm-up', async () => {
  const broken = start({ 'agent.mjs': "throw new Error('no such luck')" });
  await broken.warm!();
  await expect(broken.run(ask('hi'))).rejects.toThrow(
    'the module could not be loaded: no such luck',
  );
});

test('a module that ends its thread while it is loaded keeps no one waiting', async () => {
  const ended = start({ 'agent.mjs': 'process.exit(3)' });
  await ended.warm!();
  await expect(ended.run(ask('hi'))).rejects.toThrow('its thread ended with code 3');
});

test('what the agent prints is kept apart from the report', async () => {
  const { stderr } = await start({
    'agent.mjs': 'export default () => { console.log("chatter"); return "ok" }',
  }).run(ask('hi'));
  expect(stderr).toContain('chatter');
});

test('the output for one query is not reported with the next, and only its end is kept', async () => {
  const agent = start({
    'agent.mjs': `export default async (query) => {
      if (query === 'chatter') console.log('chatter');
      if (query === 'much') for (let i = 0; i < 200; i++) process.stdout.write('x'.repeat(1000));
      if (query === 'much at once') process.stdout.write('x'.repeat(1_000_000));
      console.log('the end');
      return 'ok';
    }`,
  });
  expect((await agent.run(ask('chatter'))).stderr).toBe('chatter\nthe end\n');
  expect((await agent.run(ask('quiet'))).stderr).toBe('the end\n');
  for (const query of ['much', 'much at once']) {
    const { stderr = '' } = await agent.run(ask(query));
    expect(stderr.length).toBeLessThanOrEqual(64 * 1024);
    expect(stderr.endsWith('xthe end\n')).toBe(true);
  }
});

test('an answer that comes once the time is up is not taken, and the thread serves the next query', async () => {
  const agent = start({
    'agent.mjs': `
      export default (query, { signal }) =>
        query === 'late' ? new Promise((resolve) => signal.addEventListener('abort', () => resolve('late'))) : query;
    `,
  });
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 200);
  await expect(agent.run(ask('late', controller.signal))).rejects.toThrow(
    'after it was asked to stop',
  );
  expect(await agent.run(ask('hi'))).toMatchObject({ value: 'hi' });
});

test('a thread serves one query after the other, also after one that failed', async () => {
  const agent = start({
    'agent.mjs': `let asked = 0; export default (q) => { asked++; if (q === 'bad') throw new Error('no'); return String(asked) }`,
  });
  expect(await agent.run(ask('hi'))).toMatchObject({ value: '1' });
  await expect(agent.run(ask('bad'))).rejects.toMatchObject({ name: 'AgentError' });
  expect(await agent.run(ask('hi'))).toMatchObject({ value: '3' });
});

test('after an agent that returned nothing two queries at once are both answered', async () => {
  const agent = start({ 'agent.mjs': `export default async (q) => (q === 'bad' ? null : q)` });
  await expect(agent.run(ask('bad'))).rejects.toMatchObject({ name: 'AgentError' });
  const both = await Promise.all([agent.run(ask('one')), agent.run(ask('two'))]);
  expect(both.map(({ value }) => value)).toEqual(['one', 'two']);
});

test('closing ends a thread that is still at work', async () => {
  const agent = start({
    'agent.mjs': 'export default () => new Promise(() => setInterval(() => {}, 1000))',
  });
  const running = agent.run(ask('hi'));
  const stopped = expect(running).rejects.toMatchObject({
    message: expect.stringContaining('stopped'),
  });
  await agent.close();
  await stopped;
});

test.each([
  {
    what: 'an error that says where it was thrown',
    code: 'throw new Error("boom")',
    stderr: /boom\s[\s\S]*agent\.mjs/,
  },
  {
    what: 'a lost connection reported in the cause, as fetch does',
    code: 'throw new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) })',
    kind: 'infra',
  },
  {
    what: 'a time to wait',
    code: 'throw Object.assign(new Error("busy"), { status: 429, headers: new Headers({ "retry-after": "2" }) })',
    kind: 'infra',
    retryAfterMs: 2000,
  },
])(
  '$what comes through from the thread',
  async ({ code, kind = 'agent', stderr = /./, retryAfterMs }) => {
    await expect(
      start({ 'agent.mjs': `export default () => { ${code} }` }).run(ask('hi')),
    ).rejects.toMatchObject({
      kind,
      stderr: expect.stringMatching(stderr),
      retryAfterMs,
    });
  },
);

test('an agent that listens to its signal gives up by itself, and its thread serves the next query', async () => {
  const agent = start({
    'agent.mjs': `let asked = 0;
      export default (q, { signal }) => {
        asked++;
        if (q !== 'bad') return String(asked);
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gave up'))));
      }`,
  });
  await agent.run(ask('hi'));
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 300);
  await expect(agent.run(ask('bad', controller.signal))).rejects.toMatchObject({
    message: 'the agent threw gave up',
  });
  expect(await agent.run(ask('hi'))).toMatchObject({ value: '3' });
});

test('an agent that was stopped before it began is not waited for', async () => {
  const agent = start({ 'agent.mjs': 'export default () => new Promise(() => {})' });
  await expect(agent.run(ask('hi', AbortSignal.abort()))).rejects.toMatchObject({
    name: 'AgentError',
  });
});

test('a function of a module is called with any arguments, and again after a call that never ended', async () => {
  const dir = tempDir({
    'sum.mjs': 'export const sum = (a, b) => { while (a === b); return a + b; }',
  });
  const caller = createModuleCaller({
    file: join(dir, 'sum.mjs'),
    exportName: 'sum',
    env: {},
    what: 'the metric',
  });
  onTestFinished(() => caller.close());
  const never = new AbortController().signal;
  expect(await caller.call([1, 2], never)).toBe(3);
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 100);
  await expect(caller.call([1, 1], controller.signal)).rejects.toMatchObject({
    message: expect.stringContaining('the metric stopped'),
  });
  expect(await caller.call([3, 4], never)).toBe(7);
});

test.each([
  { what: 'throws', code: 'throw new Error("boom")', kind: 'agent', message: /boom/ },
  {
    what: 'throws a rate-limit error',
    code: 'throw Object.assign(new Error("slow down"), { status: 429 })',
    kind: 'infra',
    message: /slow down/,
  },
  {
    what: 'loses its connection',
    code: 'throw Object.assign(new Error("reset"), { code: "ECONNRESET" })',
    kind: 'infra',
    message: /reset/,
  },
  { what: 'returns null', code: 'return null', kind: 'agent', message: /null/ },
  { what: 'returns nothing', code: '', kind: 'agent', message: /undefined/ },
  {
    what: 'returns a function',
    code: 'return { answer: () => 1 }',
    kind: 'agent',
    message: /^the agent returned a value that cannot be copied/,
  },
  { what: 'throws null', code: 'throw null', kind: 'agent', message: /^the agent threw null$/ },
  {
    what: 'throws a bare object',
    code: 'throw Object.create(null)',
    kind: 'agent',
    message: /^the agent threw \[/,
  },
  { what: 'exits the process', code: 'process.exit(4)', kind: 'agent', message: /stopped/ },
])(
  'an agent that $what gives an $kind error, and the next query still runs',
  async ({ code, kind, message }) => {
    const agent = start({
      'agent.mjs': `export default async (q) => { if (q === 'good') return 'ok'; ${code} }`,
    });
    await expect(agent.run(ask('bad'))).rejects.toMatchObject({
      name: 'AgentError',
      kind,
      message: expect.stringMatching(message),
    });
    expect(await agent.run(ask('good'))).toMatchObject({ value: 'ok' });
  },
);

test('an agent that loops without ever yielding is ended, and the next query still runs', async () => {
  const agent = start({
    'agent.mjs': `export default (q) => { while (q === 'bad'); return 'ok' }`,
  });
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 300);
  await expect(agent.run(ask('bad', controller.signal))).rejects.toMatchObject({
    name: 'AgentError',
  });
  expect(await agent.run(ask('good'))).toMatchObject({ value: 'ok' });
});

test.each([
  {
    what: 'has no such export',
    files: { 'agent.mjs': 'export const other = 1' },
    message: /other/,
  },
  {
    what: 'exports a number',
    files: { 'agent.mjs': 'export default 42' },
    message:
      /^the module could not be loaded: export "default" is not a function \(it is a number\)$/,
  },
  {
    what: 'exports a class',
    files: { 'agent.mjs': 'export default class A {}' },
    message: /is a class/,
  },
  {
    what: 'does not parse',
    files: { 'agent.mjs': 'export default (' },
    message: /could not be loaded/,
  },
  {
    what: 'imports something that is not there',
    files: { 'agent.mjs': 'import "./nowhere.mjs"' },
    message: /nowhere/,
  },
])('a module that $what is reported without a stack of ours', async ({ files, message }) => {
  await expect(start(files).run(ask('hi'))).rejects.toMatchObject({
    kind: 'agent',
    message: expect.stringMatching(message),
    stderr: expect.not.stringMatching(/^\s+at /m),
  });
});

test('of the stack of an error only the part in the module is kept', async () => {
  const agent = start({ 'agent.mjs': 'export default async () => { throw new Error("boom") }' });
  const error = (await agent.run(ask('hi')).catch((e: unknown) => e)) as { stderr: string };
  expect(error.stderr).toMatch(/^Error: boom\n\s+at .*agent\.mjs:1:\d+\)?$/);
});

test('a module that does not exist is refused at once', () => {
  expect(() =>
    createModuleRunner(
      { kind: 'module', module: 'none.ts', export: 'default' },
      { dir: join(tempDir()), env: {}, timeoutMs: 1, workers: 1 },
    ),
  ).toThrowError(expect.objectContaining({ code: 'SPEC_FILE_MISSING' }));
});

test('a background failure after an answer is reported with its query and affects no other', async () => {
  const code = `export default async (query) => {
    if (query === 'late') setTimeout(() => Promise.reject(new Error('too late')), 30);
    else await new Promise((resolve) => setTimeout(resolve, 200));
    return 'ok';
  }`;
  const agent = start({ 'agent.mjs': code });
  expect(await agent.run({ ...ask('late'), id: 'first' })).toMatchObject({ value: 'ok' });
  const second = await agent.run({ ...ask('other'), id: 'second' });
  expect(second).toMatchObject({
    value: 'ok',
    warnings: [
      {
        code: 'BACKGROUND_ERROR',
        message: 'a background task of the earlier query "first" failed: too late',
      },
    ],
  });
  expect((await agent.run({ ...ask('other'), id: 'third' })).warnings).toBeUndefined();
});

test.each([
  { what: 'a rejection', code: 'setTimeout(() => Promise.reject(new Error("boom")), 10)' },
  { what: 'an exception', code: 'setTimeout(() => { throw new Error("boom") }, 10)' },
])('$what of the query itself ends it', async ({ code }) => {
  const agent = start({
    'agent.mjs': `export default async () => { ${code}; await new Promise(() => {}); }`,
  });
  await expect(agent.run(ask('hi'))).rejects.toMatchObject({
    kind: 'agent',
    message: 'the agent stopped: boom',
  });
});

test.each([
  {
    when: 'looks up where spans go',
    code: 'process.env.OTEL_EXPORTER_OTLP_ENDPOINT',
    expected: true,
  },
  {
    when: 'takes it out of a copy of its environment',
    code: '({ ...process.env })',
    expected: true,
  },
  {
    when: 'gets it by name',
    code: "(await import('node:process')).env.OTEL_EXPORTER_OTLP_ENDPOINT",
    expected: true,
  },
  {
    when: 'starts a program',
    code: "(await import('node:child_process')).spawnSync('true')",
    expected: true,
  },
  {
    when: 'starts a thread',
    code: "new (await import('node:worker_threads')).Worker('', { eval: true })",
    expected: true,
  },
  { when: 'looks up something else', code: 'process.env.MODE', expected: false },
  { when: 'sets a variable', code: "(process.env.MODE = 'b')", expected: false },
])('an agent may send spans once it $when: $expected', async ({ code, expected }) => {
  const env = {
    PATH: process.env.PATH,
    MODE: 'a',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9/r/t/otlp',
    AGENTCI_PRELOAD: JSON.stringify({ front: '127.0.0.1:9' }),
  };
  const begun: unknown[] = [];
  const watch: Watch = {
    open: async () => ({
      env,
      args: [],
      begin: () => {},
      end: async (_, known) => {
        begun.push(known);
        return { warnings: [] };
      },
      close: async () => {},
    }),
  };
  const files = {
    'agent.mjs': `export default async (query) => { if (query === 'look') ${code}; return process.env.MODE }`,
  };
  runner = createModuleRunner(
    { kind: 'module', module: 'agent.mjs', export: 'default', env: {} } as never,
    {
      dir: tempDir(files),
      env,
      timeoutMs: 5000,
      workers: 1,
      watch,
    },
  );
  for (const query of ['hi', 'look', 'hi']) await runner.run(ask(query));
  expect(begun).toEqual(
    [false, expected, expected].map((sendsSpans) => ({ asked: 0, sendsSpans })),
  );
});
