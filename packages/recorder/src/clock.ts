/**
 * Runs a function with a clock that advances one millisecond per call. Real clocks give two events
 * the same time in one run and different times in the next. Here no two times are equal, so only
 * the order matters.
 */
export async function underTickingClock<T>(run: () => Promise<T>): Promise<T> {
  const RealDate = globalThis.Date;
  let now = RealDate.now();
  const tick = (): number => ++now;
  class TickingDate extends RealDate {
    constructor(...args: unknown[]) {
      // Dates with arguments stay unchanged. Only "now" is replaced.
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
