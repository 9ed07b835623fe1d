import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { bundleData, bundleJobs, bundleName, readBundle } from './bundle.ts';
import { type Job, nameOf } from './job.ts';
import { type Handled, workOff } from './work-off.ts';

const jobs = (count: number): Job[] => Array.from({ length: count }, (_, i) => ({ run: 'r1', id: `q${i}`, repeat: 1 }));
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
    expect(bundles.every(({ length }) => length >= 1 && length <= 8)).toBe(true);
  });

  test('are of one job where there is no more than one for each slot, or the slots are unknown', () => {
    expect(bundleJobs(jobs(4), 4)).toEqual(jobs(4).map((job) => [job]));
    expect(bundleJobs(jobs(100), 0)).toHaveLength(100);
  });

  test('begin with the first jobs, and get smaller toward the end', () => {
    const bundles = bundleJobs(jobs(1000), 50);
    expect(ids(bundles.slice(0, 50).map(([first]) => first!))).toEqual(ids(jobs(50)));
    expect(bundles[0]).toHaveLength(8);
    expect(bundles.slice(-50).every(({ length }) => length === 1)).toBe(true);
    expect(bundles.length).toBeLessThan(300);
  });

  test('travel and come back; one job alone is as it always was', () => {
    const [one] = jobs(1);
    expect(bundleData([one!])).toEqual(one);
    expect(bundleName([one!])).toBe(nameOf(one!));
    for (const bundle of [jobs(1), jobs(5)])
      expect(readBundle(JSON.parse(JSON.stringify(bundleData(bundle))))).toEqual(bundle);
  });

  test.each([
    ['nothing', undefined],
    ['no jobs', { run: 'r1', jobs: [] }],
    ['too many', { run: 'r1', jobs: Array(9).fill({ id: 'q', repeat: 1 }) }],
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
  }
  const trial = ({ handle, isEnding = () => false }: Trial, count = 4) => {
    const begun: string[] = [];
    const given: [string[], string[]][] = [];
    const outcome = workOff(jobs(count), {
      handle: (job) => {
        begun.push(job.id);
        return handle(job);
      },
      giveBack: async (rest, open) => void given.push([ids(rest), ids(open)]),
      isEnding,
    });
    return { outcome, begun, given };
  };
  const sent = { sent: Promise.resolve() };

  test('one job after the other', async () => {
    const { outcome, begun, given } = trial({ handle: async () => sent });
    expect(await outcome).toBe('over');
    expect(begun).toEqual(['q0', 'q1', 'q2', 'q3']);
    expect(given).toEqual([]);
  });

  test('the next begins while a result is on its way, and no more than one result is', async () => {
    let arrive = (): void => {};
    const first = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const { outcome, begun } = trial({ handle: async ({ id }) => (id === 'q0' ? { sent: first } : sent) });
    await sleep(5);
    expect(begun).toEqual(['q0', 'q1']);
    arrive();
    await outcome;
    expect(begun).toHaveLength(4);
  });

  test('what waits for a long one goes back, and the long one stays', async () => {
    let end = (): void => {};
    const long = new Promise<Handled>((resolve) => {
      end = () => resolve(sent);
    });
    const { outcome, begun, given } = trial({ handle: async ({ id }) => (id === 'q1' ? long : sent) });
    while (given.length === 0) await sleep(5);
    end();
    expect(await outcome).toBe('over');
    expect(begun).toEqual(['q0', 'q1']);
    expect(given).toEqual([[['q2', 'q3'], ['q1']]]);
  });

  test('a worker that is to end finishes what it has begun, and gives back the rest', async () => {
    const { outcome, begun, given } = trial({ handle: async () => sent, isEnding: () => true });
    expect(await outcome).toBe('over');
    expect(begun).toEqual(['q0']);
    expect(given[0]![0]).toEqual(['q1', 'q2', 'q3']);
  });

  test('one that fails fails alone', async () => {
    const { outcome, given } = trial({
      handle: async ({ id }) => {
        if (id === 'q1') throw new Error('no agent');
        return sent;
      },
    });
    await expect(outcome).rejects.toThrow('no agent');
    expect(given).toEqual([[['q2', 'q3'], ['q1']]]);
  });

  test('one whose result cannot be sent fails with the one that ran beside it', async () => {
    const { outcome, given } = trial({
      handle: async ({ id }) => (id === 'q0' ? { sent: Promise.reject(new Error('too large')) } : sent),
    });
    await expect(outcome).rejects.toThrow('too large');
    expect(given).toEqual([
      [
        ['q2', 'q3'],
        ['q0', 'q1'],
      ],
    ]);
  });

  test('all of it is for later where one is', async () => {
    const { outcome, begun } = trial({ handle: async () => 'later' });
    expect(await outcome).toBe('later');
    expect(begun).toEqual(['q0']);
  });
});
