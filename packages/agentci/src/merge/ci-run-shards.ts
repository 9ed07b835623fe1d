import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import { type FoundShard, placeOfShard, shardsBy } from './found-shard.ts';

/**
 * The shards of one CI run: that of the merge job, or the newest. A shard from another CI run could
 * replace an unfinished job with an outdated result. If no shard has a CI run, all are accepted.
 */
export function shardsOfCiRun(
  all: readonly FoundShard[],
  ownRun: string | undefined,
): { readonly shards: readonly FoundShard[]; readonly notices: readonly string[] } {
  const runs = shardsBy(all, ({ file }) => file.ci?.run);
  const named = [...runs.keys()].flatMap((run) => run ?? []);
  if (named.length === 0) return { shards: all, notices: [] };
  if (ownRun !== undefined && !runs.has(ownRun)) throw otherCiRun(ownRun, named);
  const chosen = ownRun ?? [...runs].reduce((a, b) => (isNewer(b, a) ? b : a))[0];
  const notices = [...runs]
    .filter(([run]) => run !== chosen)
    .map(([run, { length }]) =>
      run === undefined
        ? `${plural(length, 'shard')} that ${length === 1 ? 'does' : 'do'} not name a CI run ${wasOrWere(length)} left out`
        : `${plural(length, 'shard')} of another CI run ${wasOrWere(length)} left out (${run})`,
    );
  return { shards: runs.get(chosen)!, notices };
}

const wasOrWere = (count: number): string => (count === 1 ? 'was' : 'were');

type CiRun = readonly [run: string | undefined, shards: readonly FoundShard[]];

/** CI systems number their runs, independent of clocks. Without a number, times decide. */
function isNewer(a: CiRun, b: CiRun): boolean {
  const [one, other] = [a, b].map(
    ([run]) => /^(?<system>\S+) (?<count>\d{1,15})$/.exec(run ?? '')?.groups,
  );
  if (one !== undefined && one.system === other?.system)
    return Number(one.count) > Number(other!.count);
  const newest = ([, shards]: CiRun): string => shards.map(placeOfShard).sort().at(-1)!;
  return newest(a) > newest(b);
}

const otherCiRun = (own: string, others: readonly string[]): UserError =>
  new UserError(
    'MERGE_MISMATCH',
    `none of these shards is of this CI run (${own}): they are of ${others.join(', ')}`,
    {
      hint: `Run the shards in the CI run that merges them. To merge those of another one, set ${own.split(' ')[0]} to its id for this command.`,
    },
  );
