/** How much of what its slots hold may wait beside them. With more, another worker would have nothing to do at the end. */
const RESERVE = 0.4;

/** What a worker has taken from the queue and not finished, so how much more it may take. */
export class Stock {
  readonly #slots: number;
  readonly #onHands: (count: number) => void;
  #jobs = 0;
  #bundles = 0;
  #told = 0;
  /** Jobs are short at the moment: some wait here for the next free slot, so that no slot waits for the queue. */
  isBrisk = false;

  constructor(slots: number, onHands: (count: number) => void) {
    this.#slots = slots;
    this.#onHands = onHands;
  }

  /** Notes a bundle that was taken; what comes back takes off what is done or given back. */
  hold(jobs: number): { readonly drop: (count: number) => void; readonly end: () => void } {
    let left = jobs;
    const change = (jobCount: number, bundleCount: number): void => {
      this.#jobs += jobCount;
      this.#bundles += bundleCount;
      const hands = this.#hands();
      if (hands !== this.#told) this.#onHands(hands);
      this.#told = hands;
    };
    const drop = (count: number): void => {
      left -= count;
      change(-count, 0);
    };
    change(jobs, 1);
    return { drop, end: () => change(-left, -1) };
  }

  /** How many bundles may be here: one or two more, as long as there are not enough jobs. */
  #hands(): number {
    const lacking = Math.ceil((this.isBrisk ? 1 + RESERVE : 1) * this.#slots) - this.#jobs;
    return Math.max(1, this.#bundles + Math.max(0, Math.min(2, lacking)));
  }
}
