import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ADAPTERS } from '@agentci/formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../testing/recordings', import.meta.url));
const RUNS = 150;

/** Values that writers never write: wrong types, prototype names, extreme numbers. */
const hostile = fc.constantFrom<unknown>(
  null,
  true,
  -1,
  1e308,
  '',
  'x',
  '{"a":',
  [],
  [null, 1, 'x', []],
  {},
  { __proto__: null, constructor: 'x', toString: 1 },
  JSON.parse('{"__proto__":{"name":"x"},"constructor":{"prototype":1}}'),
  [[[[[[]]]]]],
  { type: 'text', text: 5 },
  { role: 'tool', content: [null] },
);

const recordsIn = (path: string): unknown[] => {
  const text = readFileSync(path, 'utf8');
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [value];
  } catch {
    return text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line)]));
  }
};

/** Replaces the nth part of a value. */
function replaced(value: unknown, at: number, by: unknown): unknown {
  let left = at;
  const visit = (node: unknown): unknown => {
    if (left-- === 0) return by;
    if (Array.isArray(node)) return node.map(visit);
    if (typeof node !== 'object' || node === null) return node;
    return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, visit(inner)]));
  };
  return visit(value);
}
const size = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 1
    : Object.values(value).reduce<number>((sum, inner) => sum + size(inner), 1);

const isText = (file: string): boolean => /\.(?:jsonl?|traj)$/.test(file);
const folders = (existsSync(ROOT) ? readdirSync(ROOT) : []).filter((folder) =>
  readdirSync(join(ROOT, folder)).some(isText),
);

describe.each(folders)('a recording of %s with a part that cannot be', (folder) => {
  const adapter = ADAPTERS.find(({ format }) => format === folder);
  test.each(readdirSync(join(ROOT, folder)).filter(isText))(
    'is read or refused, never a crash: %s',
    (file) => {
      const records = recordsIn(join(ROOT, folder, file));
      const parts = size(records);
      fc.assert(
        fc.property(fc.nat(parts - 1), hostile, (at, by) => {
          const broken = replaced(records, at, by);
          const list = Array.isArray(broken) ? broken : [broken];
          adapter?.detect(list);
          const items = [
            ...(adapter?.read(list.map((value, i) => ({ value, line: i + 1, index: i + 1 }))) ??
              []),
          ];
          expect(items.every(({ ok }) => typeof ok === 'boolean')).toBe(true);
        }),
        // A fixed seed, so that failures are reproducible. `npm run fuzz` tries others.
        { numRuns: RUNS, seed: 17 },
      );
    },
  );
});
