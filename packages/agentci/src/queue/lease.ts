import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../kit/user-error.ts';
import type { Client } from './client.ts';
import { runKeys } from './names.ts';

const LEASE_MS = 10_000;
const LOOK_MS = 500;
export const RENEW_MS = 2_500;

/** Whose run it is: only who holds the lease collects it. */
export class Lease {
  readonly #redis: Client;
  readonly #run: string;
  readonly #key: string;
  readonly #over: string;
  readonly #token = randomUUID();
  #isHeld = false;

  constructor(redis: Client, run: string) {
    this.#redis = redis;
    this.#run = run;
    ({ lease: this.#key, over: this.#over } = runKeys(run));
  }

  /** A collector that was killed holds its run for a few seconds more; one that is alive holds on to it. */
  async take(onNote: (message: string) => void): Promise<void> {
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      if ((await this.#hold()) !== 0) {
        this.#isHeld = true;
        return;
      }
      const left = await this.#redis.pttl(this.#key);
      if (left > before) throw taken(this.#run);
      if (before === Number.POSITIVE_INFINITY)
        onNote(`another process collects run ${this.#run}, or was killed a moment ago; waiting`);
      before = left;
      await sleep(LOOK_MS);
    }
  }

  /** `waiting`: it was never ours. `again`: Redis had lost it, or forgot us while we slept, and it is ours once more. */
  async renew(): Promise<'waiting' | 'held' | 'again'> {
    if (!this.#isHeld) return 'waiting';
    const held = await this.#hold();
    if (held === 0) throw taken(this.#run);
    return held === 2 ? 'again' : 'held';
  }

  drop = (): Promise<number> => this.#redis.dropLease(this.#key, this.#token);

  async #hold(): Promise<number> {
    const held = await this.#redis.holdLease(this.#key, this.#over, this.#token, LEASE_MS);
    if (held === 3) throw finished(this.#run);
    return held;
  }
}

const taken = (run: string): UserError =>
  new UserError('QUEUE_RUN_TAKEN', `another process collects the results of run ${run}`, {
    hint: 'One is enough. If it hangs, end it; --resume continues its run.',
  });

const finished = (run: string): UserError =>
  new UserError('QUEUE_RUN_TAKEN', `another process has collected all results of run ${run}`, {
    hint: 'Its report has them.',
  });
