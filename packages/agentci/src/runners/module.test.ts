import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { tempDir } from '../../test/support/temp-dir.ts';
import { createModuleRunner } from './module.ts';
import type { Runner } from './runner.ts';

let runner: Runner | undefined;
afterEach(() => runner?.close());

const start = (
  files: Record<string, string>,
  { module = Object.keys(files)[0]!, exported = 'default', env = {} } = {},
): Runner => {
  runner = createModuleRunner(
    { kind: 'module', module, export: exported },
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
  { kind: 'JavaScript', files: { 'agent.mjs': 'export default async (query) => query.toUpperCase()' } },
  { kind: 'CommonJS', files: { 'agent.cjs': 'module.exports = async (query) => query.toUpperCase()' } },
  {
    kind: 'TypeScript',
    files: { 'agent.ts': 'export default async (query: string): Promise<string> => query.toUpperCase()' },
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
  const { value } = await start(files, { env: { MODE: 'test' } }).run(ask('hi'));
  expect(JSON.parse((value as { answer: string }).answer)).toEqual(['q1', 1, { a: 1 }, true, 'test']);
});

test('what the agent prints is kept apart from the report', async () => {
  const { stderr } = await start({ 'agent.mjs': 'export default () => { console.log("chatter"); return "ok" }' }).run(
    ask('hi'),
  );
  expect(stderr).toContain('chatter');
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
  { what: 'throws a bare object', code: 'throw Object.create(null)', kind: 'agent', message: /^the agent threw \[/ },
  { what: 'exits the process', code: 'process.exit(4)', kind: 'agent', message: /stopped/ },
])('an agent that $what gives an $kind error, and the next query still runs', async ({ code, kind, message }) => {
  const agent = start({ 'agent.mjs': `export default async (q) => { if (q === 'good') return 'ok'; ${code} }` });
  await expect(agent.run(ask('bad'))).rejects.toMatchObject({
    name: 'AgentError',
    kind,
    message: expect.stringMatching(message),
  });
  expect(await agent.run(ask('good'))).toMatchObject({ value: 'ok' });
});

test('an agent that loops without ever yielding is ended, and the next query still runs', async () => {
  const agent = start({ 'agent.mjs': `export default (q) => { while (q === 'bad'); return 'ok' }` });
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 300);
  await expect(agent.run(ask('bad', controller.signal))).rejects.toMatchObject({ name: 'AgentError' });
  expect(await agent.run(ask('good'))).toMatchObject({ value: 'ok' });
});

test.each([
  { what: 'has no such export', files: { 'agent.mjs': 'export const other = 1' }, message: /other/ },
  { what: 'does not parse', files: { 'agent.mjs': 'export default (' }, message: /could not be loaded/ },
  { what: 'imports something that is not there', files: { 'agent.mjs': 'import "./nowhere.mjs"' }, message: /nowhere/ },
])('a module that $what says so', async ({ files, message }) => {
  await expect(start(files).run(ask('hi'))).rejects.toMatchObject({
    kind: 'agent',
    message: expect.stringMatching(message),
  });
});

test('a module that does not exist is refused at once', () => {
  expect(() =>
    createModuleRunner(
      { kind: 'module', module: 'none.ts', export: 'default' },
      { dir: join(tempDir()), env: {}, timeoutMs: 1, workers: 1 },
    ),
  ).toThrowError(expect.objectContaining({ code: 'RUNNER_MODULE_MISSING' }));
});
