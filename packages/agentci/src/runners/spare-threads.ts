import type { Worker } from 'node:worker_threads';

/**
 * Threads that are started before they are needed, since starting one takes longer than loading most modules. They load nothing of
 * the user's until one is taken: it runs what is on disk then.
 */
export class SpareThreads {
  readonly #most: number;
  readonly #start: () => Worker;
  /** Each with the way to look away from it. */
  readonly #spare = new Map<Worker, () => void>();
  #filling: Promise<void> | undefined;
  /** Runs in progress. */
  #runs = 0;
  /** One ended by itself: so would the next. */
  #hasFailed = false;
  #isClosed = false;

  constructor(most: number, start: () => Worker) {
    this.#most = most;
    this.#start = start;
  }

  /** One that is ready, if there is one. */
  take(): Worker | undefined {
    for (const [worker, lookAway] of this.#spare) {
      this.#spare.delete(worker);
      lookAway();
      return worker;
    }
    return undefined;
  }

  /** A run begins: no more are started until the function that comes back says that it is over. The processor is the run's. */
  hold(): () => void {
    this.#runs++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#runs--;
      this.fill();
    };
  }

  /** Starts as many as are missing, one after the other, unless there is something to do. */
  fill(): void {
    this.#hasFailed = false;
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = undefined;
    });
  }

  async #fill(): Promise<void> {
    while (!this.#isClosed && !this.#hasFailed && this.#runs === 0 && this.#spare.size < this.#most)
      await this.#add();
  }

  #add(): Promise<void> {
    return new Promise((resolve) => {
      const worker = this.#start();
      const drop = (): void => {
        this.#spare.delete(worker);
        this.#hasFailed = true;
        resolve();
      };
      worker.on('error', drop);
      worker.on('exit', drop);
      worker.once('online', () => {
        this.#spare.set(worker, () => worker.off('error', drop).off('exit', drop));
        resolve();
      });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#filling;
    await Promise.all([...this.#spare.keys()].map((worker) => worker.terminate()));
  }
}
