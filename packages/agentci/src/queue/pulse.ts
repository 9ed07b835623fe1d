import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './client.ts';

const LOOK_MS = 2500;
/** A Redis that is asked nothing hard answers in far less. */
const SILENT_MS = 5000;

/**
 * Looks whether a Redis still answers. One that has been stopped, or is behind a network that swallows everything, keeps its
 * connections open for as long as anyone waits. Its connection is cut, and then it is a Redis that went away like any other.
 */
export class Pulse {
  readonly #redis: Client;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;

  constructor(redis: Client) {
    this.#redis = redis;
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    this.#timer.unref();
  }

  /** Whoever is in a hurry waits for less long. */
  async look(silentMs = SILENT_MS): Promise<void> {
    this.#looking ??= this.#ask(silentMs).finally(() => {
      this.#looking = undefined;
    });
    await this.#looking;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #ask(silentMs: number): Promise<void> {
    if (this.#redis.status !== 'ready') return;
    const { stream } = this.#redis;
    // An error is an answer too.
    const answered = this.#redis.ping().then(
      () => true,
      () => true,
    );
    if (!(await Promise.race([answered, sleep(silentMs, false, { ref: false })]))) stream.destroy();
  }
}

/** Ends a connection for good. One to a Redis that is silent would wait for the other side to agree. */
export function hangUp(redis: Client): void {
  redis.disconnect();
  redis.stream?.destroy();
}
