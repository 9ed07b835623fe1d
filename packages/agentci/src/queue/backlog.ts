const EACH_MS = 1;
/** So many may continue at least, and this share of all who wait. */
const LEAST = 3;
const SHARE = 1 / 4;

/**
 * For work that can wait. A part of it is done every millisecond, and in between the processor is free for what cannot wait, here
 * and in other programs on the machine. The more there is the more is done at a time, so that it never piles up.
 */
export class Backlog {
  readonly #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Waits for its turn. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#timer ??= setTimeout(this.#go, EACH_MS);
    });
  }

  #go = (): void => {
    const count = Math.max(LEAST, Math.ceil(this.#waiting.length * SHARE));
    for (const proceed of this.#waiting.splice(0, count)) proceed();
    this.#timer = this.#waiting.length === 0 ? undefined : setTimeout(this.#go, EACH_MS);
  };
}
