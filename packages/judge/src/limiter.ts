const MINUTE_MS = 60_000;

export interface Limits {
  /** Maximum concurrent calls. */
  readonly concurrent: number;
  readonly perMinute: number;
}

/** Limits the calls to one provider. A Retry-After of the provider delays all callers. */
export class Limiter {
  readonly #limits: Limits;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #now: () => number;
  readonly #waiting: (() => void)[] = [];
  /** Start times of the calls in the last minute. */
  #started: number[] = [];
  #running = 0;
  #pausedUntil = 0;

  constructor(limits: Limits, clock: { sleep: (ms: number) => Promise<void>; now: () => number }) {
    this.#limits = limits;
    this.#sleep = clock.sleep;
    this.#now = clock.now;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.concurrent)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      for (let wait = this.#wait(); wait > 0; wait = this.#wait()) await this.#sleep(wait);
      this.#started.push(this.#now());
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }

  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#now() + ms);
  }

  #wait(): number {
    const now = this.#now();
    this.#started = this.#started.filter((at) => at > now - MINUTE_MS);
    const [oldest] = this.#started;
    const full =
      this.#started.length >= this.#limits.perMinute && oldest !== undefined
        ? oldest + MINUTE_MS - now
        : 0;
    return Math.max(full, this.#pausedUntil - now);
  }
}
