import fc from 'fast-check';
import { expect, test } from 'vitest';
import { takeShard } from './shard.ts';

test('the shards of a list hold every item once, and differ in size by one at most', () => {
  fc.assert(
    fc.property(fc.array(fc.nat()), fc.integer({ min: 1, max: 20 }), (values, count) => {
      const items = values.map((value, position) => ({ value, position }));
      const shards = Array.from({ length: count }, (_, i) => takeShard(items, `${i + 1}/${count}`));
      expect(shards.flat().sort((a, b) => a.position - b.position)).toEqual(items);
      const sizes = shards.map(({ length }) => length);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
    }),
  );
});

test.each(['0/2', '3/2', '1', '1/0', '-1/2', '1/2/3', 'a/b', '1/2 ', '1/9999999', ''])(
  '"%s" is refused',
  (shard) => {
    expect(() => takeShard([1, 2], shard)).toThrow('is not a shard');
  },
);
