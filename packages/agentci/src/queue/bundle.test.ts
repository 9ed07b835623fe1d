import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bundleData, bundleJobs, bundleName, readBundle } from './bundle.ts';
import { type Job, nameOf } from './job.ts';
import { Room } from './room.ts';
import { Stock } from './stock.ts';
import { type Handled, workOff } from './work-off.ts';

const jobs = (count: number): Job[] =>
  Array.from({ length: count }, (_, i) => ({ run: 'r1', id: `q${i}`, repeat: 1 }));
const ids = (list: readonly Job[]): string[] => list.map(({ id }) => id);

describe('bundles', () => {
  test.each([
    [0, 4],
    [1, 4],
    [7, 4],
    [60, 4],
    [1000, 50],
    [1000, 1],
    [3, 1000],
    [20, 0],
  ])('of %i jobs for %i slots hold each job once', (count, slots) => {
    const bundles = bundleJobs(jobs(count), slots);
    expect(ids(bundles.flat()).sort()).toEqual(ids(jobs(count)).sort());
    expect(
      bundles.every(({ length }) => length >= 1 && length <= Math.min(32, Math.max(16, slots))),
    ).toBe(true);
  });

  test('are of one job where there is no more than one for each slot, or the slots are unknown', () => {
    expect(bundleJobs(jobs(4), 4)).toEqual(jobs(4).map((job) => [job]));
    expect(bundleJobs(jobs(50), 50)).toHaveLength(50);
    expect(bundleJobs(jobs(100), 0)).toHaveLength(100);
  });

  test.each([
    { slots: 20, first: 20, last: 1, most: 80 },
    { slots: 50, first: 32, last: 3, most: 70 },
  ])(
    'keep the order of the jobs, and get smaller until those for the last turn of $slots slots hold $last',
    ({ slots, first, last, most }) => {
      const bundles = bundleJobs(jobs(1000), slots);
      const sizes = bundles.map(({ length }) => length);
      expect(ids(bundles.flat())).toEqual(ids(jobs(1000)));
      expect(sizes[0]).toBe(first);
      expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
      expect(sizes.slice(-Math.floor(slots / last)).every((size) => size <= last)).toBe(true);
      expect(sizes.length).toBeLessThan(most);
    },
  );

  test('travel and come back; one job alone is as it always was', () => {
    const [one] = jobs(1);
    expect(bundleData([one!])).toEqual(one);
    expect(bundleName([one!])).toBe(nameOf(one!));
    for (const bundle of [jobs(1), jobs(5)])
      for (const about of [
        { isAgain: false, putOff: 0 },
        { isAgain: true, putOff: 2 },
      ])
        expect(readBundle(JSON.parse(JSON.stringify(bundleData(bundle, about))))).toEqual({
          jobs: bundle,
          ...about,
        });
  });

  test.each([
    ['nothing', undefined],
    ['no jobs', { run: 'r1', jobs: [] }],
    ['too many', { run: 'r1', jobs: Array(33).fill({ id: 'q', repeat: 1 }) }],
    ['one that is none', { run: 'r1', jobs: [{ id: 'q', repeat: 1 }, 'x'] }],
    ['no run', { jobs: [{ id: 'q', repeat: 1 }] }],
    ['a list that is none', { run: 'r1', jobs: 'q' }],
  ])('of %s are refused', (_, value) => {
    expect(readBundle(value)).toBeUndefined();
  });
});

describe('a bundle is worked off', () => {
  interface Trial {
    readonly handle: (job: Job) => Promise<Handled>;
    readonly isEnding?: () => boolean;
    readonly slots?: number;
    readonly count?: number;
  }
  const trial = ({ handle, isEnding = () => false, slots = 1, count = 4 }: Trial) => {
    const begun: string[] = [];
    const given: [string[], string[]][] = [];
    const room = new Room(slots);
    const outcome = workOff(jobs(count), {
      enter: () => room.enter(false),
      handle: (job) => {
        begun.push(job.id);
        return handle(job);
      },
      giveBack: async (rest, open) => void given.push([ids(rest), ids(open)]),
      isEnding,
    });
    return { outcome, begun, given, room };
  };
  const sent: Handled = { ends: Promise.resolve('sent') };
  const never = new Promise<Handled>(() => {});

  test('in its order', async () => {
    const { outcome, begun, given } = trial({ handle: async () => sent });
    expect(await outcome).toBe('over');
    expect(begun).toEqual(['q0', 'q1', 'q2', 'q3']);
    expect(given).toEqual([]);
  });

  test('on as many slots as are free', async () => {
    const { begun } = trial({ handle: () => never, slots: 3 });
    await sleep(5);
    expect(begun).toEqual(['q0', 'q1', 'q2']);
  });

  test('a slot is free while a result is on its way, and the bundle is over when all are there', async () => {
    let arrive = (): void => {};
    const first = new Promise<'sent'>((resolve) => {
      arrive = () => resolve('sent');
    });
    let isOver = false;
    const { outcome, begun } = trial({
      handle: async ({ id }) => (id === 'q0' ? { ends: first } : sent),
    });
    void outcome.then(() => {
      isOver = true;
    });
    await sleep(5);
    expect(begun).toHaveLength(4);
    expect(isOver).toBe(false);
    arrive();
    expect(await outcome).toBe('over');
  });

  test('a job that turns out to be for later once its slot is free keeps the bundle for later', async () => {
    const { outcome } = trial({
      handle: async ({ id }) =>
        id === 'q0' ? { ends: sleep(5).then(() => 'later' as const) } : sent,
    });
    expect(await outcome).toBe('later');
  });

  test('what waits for a long one goes back, and the long one stays', async () => {
    let end = (): void => {};
    const long = new Promise<Handled>((resolve) => {
      end = () => resolve(sent);
    });
    const { outcome, begun, given } = trial({
      handle: async ({ id }) => (id === 'q1' ? long : sent),
    });
    while (given.length === 0) await sleep(5);
    end();
    expect(await outcome).toBe('shared');
    expect(begun).toEqual(['q0', 'q1']);
    expect(given).toEqual([[['q2', 'q3'], ['q1']]]);
  });

  test('one that finds no free slot goes back whole, and waits for nobody', async () => {
    const room = new Room(1);
    await room.enter(false);
    const given: string[][] = [];
    const outcome = workOff(jobs(2), {
      enter: () => room.enter(false),
      handle: () => never,
      giveBack: async (rest) => void given.push(ids(rest)),
      isEnding: () => false,
    });
    expect(await outcome).toBe('shared');
    expect(given).toEqual([['q0', 'q1']]);
  });

  test('a worker that is to end finishes what it has begun, and gives back the rest', async () => {
    let isEnding = false;
    const { outcome, begun, given } = trial({
      handle: async () => {
        isEnding = true;
        return sent;
      },
      isEnding: () => isEnding,
    });
    expect(await outcome).toBe('shared');
    expect(begun).toEqual(['q0']);
    expect(given[0]![0]).toEqual(['q1', 'q2', 'q3']);
  });

  test('a job by itself is run even then: it cannot be put in beside itself', async () => {
    const { outcome, begun, given } = trial({
      handle: async () => sent,
      isEnding: () => true,
      count: 1,
    });
    expect(await outcome).toBe('over');
    expect(begun).toEqual(['q0']);
    expect(given).toEqual([]);
  });

  test('one that fails fails alone', async () => {
    const { outcome, begun, given } = trial({
      handle: async ({ id }) => {
        if (id === 'q1') throw new Error('no agent');
        return sent;
      },
    });
    await expect(outcome).rejects.toThrow('no agent');
    expect(begun).toEqual(['q0', 'q1']);
    expect(given.map(([rest]) => rest)).toEqual([['q2', 'q3'], []]);
    expect(given.at(-1)![1]).toEqual(['q1']);
  });

  test('one whose result cannot be sent fails alone, even beside others', async () => {
    const { outcome, given } = trial({
      handle: async ({ id }) =>
        id === 'q0' ? { ends: Promise.reject(new Error('too large')) } : sent,
      slots: 2,
      count: 2,
    });
    await expect(outcome).rejects.toThrow('too large');
    expect(given).toEqual([[[], ['q0']]]);
  });

  test('all of it is for later where one is', async () => {
    const { outcome, begun, given } = trial({ handle: async () => 'later' });
    expect(await outcome).toBe('later');
    expect(begun).toEqual(['q0']);
    expect(given).toEqual([]);
  });

  test('what is for later goes back where another one fails', async () => {
    const { outcome, given } = trial({
      handle: async ({ id }) => {
        if (id === 'q0') return 'later';
        await sleep(1);
        throw new Error('no agent');
      },
      slots: 2,
    });
    await expect(outcome).rejects.toThrow('no agent');
    expect(given.flatMap(([rest]) => rest).sort()).toEqual(['q0', 'q2', 'q3']);
    expect(given.at(-1)![1]).toEqual(['q1']);
  });
});

describe('what a worker takes', () => {
  const stock = (slots: number) => {
    const hands: number[] = [];
    return { stock: new Stock(slots, (count) => hands.push(count)), hands: () => hands.at(-1) };
  };

  test.each([
    { when: 'nothing is free', slots: 4, bundles: [1, 1, 1, 1], isBrisk: false, hands: 4 },
    { when: 'one slot is free', slots: 4, bundles: [1, 1, 1], isBrisk: false, hands: 4 },
    { when: 'many slots are free', slots: 10, bundles: [1], isBrisk: false, hands: 3 },
    { when: 'a bundle is enough for all slots', slots: 4, bundles: [16], isBrisk: false, hands: 1 },
    {
      when: 'jobs are short and there is only one for each slot',
      slots: 4,
      bundles: [4],
      isBrisk: true,
      hands: 3,
    },
    {
      when: 'jobs are short and as many wait as are running',
      slots: 4,
      bundles: [8],
      isBrisk: true,
      hands: 1,
    },
  ])('is $hands bundles at a time when $when', ({ slots, bundles, isBrisk, hands }) => {
    const { stock: taken, hands: now } = stock(slots);
    taken.isBrisk = isBrisk;
    for (const jobCount of bundles) taken.hold(jobCount);
    expect(now()).toBe(hands);
  });

  test('is more when jobs are done or given back, and all of it when the bundle is over', () => {
    const { stock: taken, hands } = stock(4);
    taken.hold(2);
    const { drop, end } = taken.hold(6);
    expect(hands()).toBe(2);
    drop(5);
    expect(hands()).toBe(3);
    end();
    expect(hands()).toBe(3);
  });
});
