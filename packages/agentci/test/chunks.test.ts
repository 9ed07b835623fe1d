import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
/**
 * Minified modules contain `from"./chunk.mjs"` and `import"./chunk.mjs"`. A dynamic `import()` has
 * a parenthesis.
 */
const STATIC_IMPORT = /(?:from|import)\s*["'`]\.\/([\w.-]+\.mjs)["'`]/g;

/** A chunk with its static imports. Dynamic imports do not count. */
function loadedWith(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, next] of readFileSync(join(DIST, name), 'utf8').matchAll(STATIC_IMPORT))
    loadedWith(next!, found);
  return found;
}

const chunkOf = (name: string): string =>
  readdirSync(DIST).find((file) => file.replace(/(-[\w-]{8})?\.mjs$/, '') === name)!;

test('the program loads nothing before it knows its command', () => {
  expect([...loadedWith('cli.mjs')]).toEqual(['cli.mjs']);
});

test.each([
  { what: 'the code that runs agents', sign: /module-host\.mjs/ },
  { what: 'the report page', sign: /<!doctype html>/i },
  { what: 'the price table', sign: /gpt-4o-mini-2024-07-18.*input_mtok/s },
])('validate does not load $what', ({ sign }) => {
  const has = (chunk: string): boolean => sign.test(readFileSync(join(DIST, chunk), 'utf8'));
  expect(readdirSync(DIST).filter((file) => file.endsWith('.mjs') && has(file))).not.toEqual([]);
  expect([...loadedWith(chunkOf('spec'))].filter(has)).toEqual([]);
});
