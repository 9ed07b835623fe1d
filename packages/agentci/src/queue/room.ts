/**
 * Who may work in a worker at the same time: as many as it has slots. A job that was begun before, and never ended, may be what
 * killed its worker: it is given the room for itself, so that only one can be to blame the next time.
 */
export class Room {
  readonly #slots: number;
  #inside = 0;
  #isTaken = false;
  readonly #waiting: (() => boolean)[] = [];

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Waits for a place; gives the way to leave it. */
  async enter(isAlone: boolean): Promise<() => void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(() => {
        if (this.#isTaken || this.#inside >= (isAlone ? 1 : this.#slots)) return false;
        this.#inside++;
        this.#isTaken = isAlone;
        resolve();
        return true;
      });
      this.#admit();
    });
    let isLeft = false;
    return () => {
      if (isLeft) return;
      isLeft = true;
      this.#inside--;
      this.#isTaken = false;
      this.#admit();
    };
  }

  /** In the order they came: one that wants to be alone is not passed by others forever. */
  #admit(): void {
    while (this.#waiting[0]?.() === true) this.#waiting.shift();
  }
}
