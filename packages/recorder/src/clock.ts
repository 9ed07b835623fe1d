/**
 * Runs something under a clock that moves a millisecond whenever it is asked. Real clocks give two events one time in one
 * run and two in the next; under this one no two times are equal, so that their order is all there is to them.
 */
export async function underTickingClock<T>(run: () => Promise<T>): Promise<T> {
  const RealDate = globalThis.Date;
  let now = RealDate.now();
  const tick = (): number => ++now;
  class TickingDate extends RealDate {
    constructor(...args: unknown[]) {
      // Every way of making a date stays as it is; only "now" is ours.
      super(...((args.length === 0 ? [tick()] : args) as [number]));
    }
    static override now(): number {
      return tick();
    }
  }
  globalThis.Date = TickingDate as DateConstructor;
  try {
    return await run();
  } finally {
    globalThis.Date = RealDate;
  }
}
