import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { andMore, plural } from '@agentci/lib/text';
import type { RunResult } from '@agentci/results';
import { type FoundShard, placeOfShard, shardsBy } from './found-shard.ts';

const MAX_NAMED = 20;

/** The attempts of one shard. */
interface Attempts {
  /** The attempt that counts. */
  readonly shard: FoundShard;
  readonly place: string;
  readonly count: number;
  /** The other attempts. */
  readonly replaced: readonly FoundShard[];
  readonly notices: readonly string[];
  /** The reason why no attempt could be chosen. */
  readonly conflict?: string;
}

/** Chooses the valid attempt of every shard, in plan order, with notices. */
export function chooseAttempts(
  all: readonly FoundShard[],
  now: string,
): {
  readonly shards: readonly FoundShard[];
  readonly conflicts: readonly string[];
} & Pick<Attempts, 'replaced' | 'notices'> {
  const chosen = [...shardsBy(all, ({ file }) => file.index)]
    .sort(([a], [b]) => a - b)
    .map(([, attempts]) => attemptThatCounts(attempts, now));
  return {
    shards: chosen.map(({ shard }) => shard),
    replaced: chosen.flatMap(({ replaced }) => replaced),
    notices: [...chosen.flatMap(({ notices }) => notices), ...notRunAgain(chosen)],
    conflicts: chosen.flatMap(({ conflict }) => conflict ?? []),
  };
}

interface Attempt {
  readonly shard: FoundShard;
  readonly place: string;
  readonly number: number;
}

/**
 * The newest attempt: by its CI attempt number if there is one, else by its start order. A date in
 * the future is not trusted. If such an attempt is the only good one, a bad one counts.
 */
function attemptThatCounts(given: readonly FoundShard[], now: string): Attempts {
  const isNumbered = given.every((shard) => numberOf(shard) !== undefined);
  const attempts = given
    .map(
      (shard): Attempt => ({
        shard,
        place: placeOfShard(shard),
        number: isNumbered ? numberOf(shard)! : 0,
      }),
    )
    .sort((a, b) => b.number - a.number || (a.place < b.place ? 1 : -1));
  const newest = attempts[0]!;
  const { index } = newest.shard.file;
  const count = attempts.length;
  if (count === 1) return { ...newest, count, replaced: [], notices: [] };
  const rivals = attempts.filter(({ number }) => number === newest.number);
  const isDoubtful =
    rivals.length > 1 && (newest.shard.header?.started_at ?? '') > now && isGood(newest.shard);
  const bad = isDoubtful ? rivals.find(({ shard }) => !isGood(shard)) : undefined;
  const counts = bad ?? newest;
  const why =
    bad === undefined
      ? 'the newest attempt counts'
      : 'the one that passed is dated after now, so a clock is wrong, there or here; the one that did not pass counts';
  return {
    ...counts,
    count,
    replaced: given.filter((shard) => shard !== counts.shard),
    notices: [`shard ${index} was given ${plural(count, 'time')}: ${why}`],
    conflict: conflictOf(counts, attempts),
  };
}

/**
 * If two jobs both ran a shard, as in a matrix, neither is an attempt of the other. A good one does
 * not replace a bad one.
 */
function conflictOf(counts: Attempt, attempts: readonly Attempt[]): string | undefined {
  const { index } = counts.shard.file;
  if (!isGood(counts.shard)) return undefined;
  // Attempts are ordered, so this finds the newest attempt of each other job.
  const others = attempts.filter((each) => each !== counts && isOtherJob(each, counts));
  const newestOfEach = others.filter(
    (each, at) => !others.slice(0, at).some((newer) => !isOtherJob(newer, each)),
  );
  const bad = newestOfEach.find(({ shard }) => !isGood(shard));
  return bad === undefined
    ? undefined
    : `shard ${index} was run by two jobs of one CI run: ${counts.shard.dir} passed, and ${bad.shard.dir} did not. Merge the shards of each by themselves`;
}

/** Outside CI, or for a job without a name, a repeated shard counts as another attempt. */
function isOtherJob(a: Attempt, b: Attempt): boolean {
  const [one, other] = [a.shard.file.ci, b.shard.file.ci];
  if (one === undefined || other === undefined) return false;
  if (one.name !== other.name) return true;
  const isOneAttempt = one.attempt !== undefined && one.attempt === other.attempt;
  const isOnePlace = one.machine === other.machine && dirname(a.shard.dir) === dirname(b.shard.dir);
  return isOneAttempt && !isOnePlace;
}

const numberOf = ({ file }: FoundShard): number | undefined => file.ci?.attempt ?? file.ci?.job;

/** Whether an attempt finished and passed. */
function isGood({ dir }: FoundShard): boolean {
  try {
    return (
      (JSON.parse(readFileSync(join(dir, 'run.json'), 'utf8')) as RunResult).summary.exit_code === 0
    );
  } catch {
    return false;
  }
}

/**
 * If other shards were run again, a shard that was not may describe an older version of the agent.
 */
function notRunAgain(chosen: readonly Attempts[]): string[] {
  const hasAttempts = chosen.every(({ shard }) => shard.file.ci?.attempt !== undefined);
  const roundOf = ({ shard, count }: Attempts): number =>
    hasAttempts ? shard.file.ci!.attempt! : count;
  const isBehind = (one: Attempts): boolean =>
    chosen.some(
      (other) => roundOf(other) > roundOf(one) && (hasAttempts || other.place > one.place),
    );
  const behind = chosen
    .filter(isBehind)
    .map(
      ({ shard }) =>
        `shard ${shard.file.index} (ran at ${shard.header?.started_at ?? 'an unknown time'})`,
    );
  return behind.length === 0
    ? []
    : [`not run again with the others: ${andMore(behind, MAX_NAMED)}`];
}
