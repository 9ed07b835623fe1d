/**
 * Who may work in a worker at the same time. A job that was begun before, and never ended, may be what killed its worker: it is
 * given the room for itself, so that only one can be to blame the next time.
 */
export class Room {
  #inside = 0;
  #isTaken = false;
  readonly #waiting: (() => boolean)[] = [];

  /** Waits for a place; gives the way to leave it. */
  async enter(isAlone: boolean): Promise<() => void> {
    await new Promise<void>((resolve) => {
      this.#waiting.push(() => {
        if (this.#isTaken || (isAlone && this.#inside > 0)) return false;
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
