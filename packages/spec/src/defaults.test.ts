import { parseYaml, toPlain, type YamlEntry, type YamlMap } from '@agentci/lib/yaml';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { meetDeep, mergeMaps, overlay, sortedEntries } from './defaults.ts';

function mapOf(value: unknown): YamlMap {
  const { root } = parseYaml(JSON.stringify(value), { file: 'a.yaml' });
  if (root?.kind !== 'map') throw new Error('not a map');
  return root;
}

const plainOf = (entries: readonly YamlEntry[]): [string, unknown][] =>
  entries.map(({ key, value }) => [key, toPlain(value)]);

describe('overlay', () => {
  const leaf = fc.oneof(
    fc.constant(null),
    fc.integer(),
    fc.constantFrom('x', 'y'),
    fc.array(fc.integer()),
  );
  const value = fc.oneof(leaf, fc.dictionary(fc.constantFrom('a', 'b', 'c'), leaf));
  const key = fc.constantFrom(...'abcdefghij', '10', '9', 'ä', 'Z').map((text) => text.repeat(2));
  const few = fc.dictionary(key, value, { minKeys: 1 });
  const many = fc.dictionary(fc.integer({ min: 0, max: 200 }).map(String), value, { minKeys: 40 });

  test.each([
    { size: 'few keys', own: few },
    { size: 'many keys', own: many },
  ])('with $size is what merging maps gives, sorted by key', ({ own }) => {
    fc.assert(
      fc.property(few, own, (base, over) => {
        const merged = mergeMaps(mapOf(base), mapOf(over));
        const laid = overlay(sortedEntries(mapOf(base)), mapOf(over), meetDeep);
        const expected = plainOf([...merged.entries.values()]).sort(([a], [b]) => (a < b ? -1 : 1));
        expect(plainOf(laid)).toEqual(expected);
      }),
    );
  });

  test('an inherited entry stays the very same, so that it is checked and located once', () => {
    const base = sortedEntries(mapOf({ a: 1, c: { x: 1 } }));
    const laid = overlay(base, mapOf({ b: 2 }), meetDeep);
    expect(laid.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
    expect(laid[0]).toBe(base[0]);
    expect(laid[2]).toBe(base[1]);
  });
});
