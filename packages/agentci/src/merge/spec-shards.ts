import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import { type FoundShard, shardsBy } from './found-shard.ts';

/**
 * The shards of the named spec, or all shards. Compares only the name, because machines may use
 * different folders.
 */
export function shardsOfSpec(
  all: readonly FoundShard[],
  spec: string | undefined,
): { readonly shards: readonly FoundShard[]; readonly notices: readonly string[] } {
  if (spec === undefined || all.length === 0) return { shards: all, notices: [] };
  const specs = shardsBy(all, ({ file }) => file.spec.file);
  const shards =
    specs.get(spec) ?? all.filter(({ file }) => nameOf(file.spec.file) === nameOf(spec));
  if (shards.length === 0)
    throw new UserError(
      'MERGE_MISMATCH',
      `-c: none of these shards is of ${spec}: they are of ${[...specs.keys()].join(', ')}`,
      {
        hint: 'Name the spec that the shards were run with.',
      },
    );
  const notices = [...specs]
    .filter(([, others]) => !shards.includes(others[0]!))
    .map(
      ([file, { length }]) =>
        `${plural(length, 'shard')} of another spec ${length === 1 ? 'was' : 'were'} left out (${file})`,
    );
  return { shards, notices };
}

const nameOf = (file: string): string => file.split(/[\\/]/).at(-1)!;
