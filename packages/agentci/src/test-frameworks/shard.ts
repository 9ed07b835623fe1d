import { UserError } from '@agentci/lib/problems';

/**
 * Takes every nth item. Neighbors often have similar durations, so they end up in different shards.
 * Test runners divide files among machines, not tests, so use several files with one shard each.
 */
export function takeShard<T>(items: readonly T[], shard: string | undefined): readonly T[] {
  if (shard === undefined) return items;
  const [, index, count] = /^([1-9]\d{0,5})\/([1-9]\d{0,5})$/.exec(shard) ?? [];
  if (index === undefined || Number(index) > Number(count)) {
    throw new UserError('OPTION_INVALID', `shard: "${shard}" is not a shard`, {
      hint: 'Write it like "1/4" or "4/4".',
    });
  }
  return items.filter((_, position) => position % Number(count) === Number(index) - 1);
}
