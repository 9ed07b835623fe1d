/** Limits the concurrency of a worker: one job per slot, or one job that must run alone. */
export class WorkerSlots {
  readonly #slots: number;
  readonly #waiting: (() => boolean)[] = [];
  #running = 0;
  #isAlone = false;

  constructor(slots: number) {
    this.#slots = slots;
  }

  /**
   * Runs an action when there is room, in order of arrival, so that a job that must run alone is
   * not overtaken forever.
   */
  async use<T>(how: 'beside others' | 'alone', action: () => Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(() => {
        if (this.#isAlone || this.#running >= (how === 'alone' ? 1 : this.#slots)) return false;
        this.#running++;
        this.#isAlone = how === 'alone';
        resolve();
        return true;
      });
      this.#next();
    });
    try {
      return await action();
    } finally {
      this.#running--;
      this.#isAlone = false;
      this.#next();
    }
  }

  #next(): void {
    while (this.#waiting[0]?.() === true) this.#waiting.shift();
  }
}
