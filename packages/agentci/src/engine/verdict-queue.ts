import { setImmediate as turn } from 'node:timers/promises';

/**
 * Verdicts that wait until the agents whose turn it is have been started: an agent mostly waits for others, so what is
 * computed here costs it nothing. One at a time, in the order the traces came in.
 */
export class VerdictQueue {
  readonly #most: number;
  readonly #due: (() => Promise<void>)[] = [];
  #working: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** `most` verdicts may be due before someone has to wait: agents that answer at once must not run away from them. */
  constructor(most: number) {
    this.#most = most;
  }

  async add(verdict: () => Promise<void>): Promise<void> {
    this.#due.push(verdict);
    this.#working ??= this.#work();
    if (this.#due.length > this.#most) await this.#working;
  }

  /** A verdict could not be written down: there is no point in continuing. */
  hasFailed = (): boolean => this.#failure !== undefined;

  /** Waits for what is still due. */
  async settled(): Promise<void> {
    await this.#working;
  }

  throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async #work(): Promise<void> {
    for (;;) {
      // Agents that wait for an answer of ours are served between any two verdicts.
      await turn();
      const verdict = this.#due.shift();
      if (verdict === undefined) break;
      try {
        await verdict();
      } catch (error) {
        this.#failure ??= { error };
      }
    }
    this.#working = undefined;
  }
}
