import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
/** What a chunk needs at once; what it loads on demand is in a function. */
const STATIC_IMPORT = /(?<!=>)require\(`\.\/([\w.-]+\.cjs)`\)/g;

/** The chunks that are loaded with one, itself included; what it imports on demand is not. */
function loadedWith(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, next] of readFileSync(join(DIST, name), 'utf8').matchAll(STATIC_IMPORT))
    loadedWith(next!, found);
  return found;
}

const nameOf = (chunk: string): string =>
  chunk.replace(/-[\w-]{8}\.cjs$/, '').replace(/\.cjs$/, '');
const chunkOf = (name: string): string =>
  readdirSync(DIST).find((file) => file.endsWith('.cjs') && nameOf(file) === name)!;

test.each([
  { command: 'the program before it knows its command', chunk: 'cli', chunks: ['cli'] },
  {
    command: 'validate',
    chunk: 'validate',
    chunks: ['core', 'rolldown-runtime', 'spec', 'validate'],
  },
])('$command loads $chunks and nothing else', ({ chunk, chunks }) => {
  expect([...loadedWith(chunkOf(chunk))].map(nameOf).sort()).toEqual(chunks);
});

test('what explains a bad spec is loaded only when there is one', () => {
  expect([...loadedWith(chunkOf('validate'))]).not.toContain(chunkOf('full-expert'));
  expect(readFileSync(join(DIST, chunkOf('spec')), 'utf8')).toContain('full-expert');
});

test('the engine for expressions is loaded only when a spec has one', () => {
  const isEngine = (chunk: string): boolean =>
    /registerFunctionOverload/.test(readFileSync(join(DIST, chunk), 'utf8'));
  expect(
    [...loadedWith(chunkOf('validate')), ...loadedWith(chunkOf('test'))].filter(isEngine),
  ).toEqual([]);
});

test('validate does not load the modules of Node it has no use for', () => {
  const script = `process.on('exit', () => process._rawDebug(process.moduleLoadList.join()))`;
  const sample = fileURLToPath(new URL('../../../docs/sample_spec.yaml', import.meta.url));
  const { stderr } = spawnSync(
    process.execPath,
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(script)}`,
      join(DIST, 'cli.cjs'),
      'validate',
      sample,
    ],
    { encoding: 'utf8' },
  );
  const loaded = stderr.split(',').map((module) => module.trim().replace('NativeModule ', ''));
  expect(loaded).toContain('fs');
  expect(
    loaded.filter((module) =>
      ['crypto', 'zlib', 'child_process', 'worker_threads', 'http'].includes(module),
    ),
  ).toEqual([]);
});
