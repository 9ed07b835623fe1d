/** Adds `duration_ms` where a clock was given; without one the result is the same each time. */
export function timed<T extends object>(now: (() => number) | undefined, work: () => T): T {
  if (now === undefined) return work();
  const started = now();
  const result = work();
  return { ...result, duration_ms: Math.round((now() - started) * 1000) / 1000 };
}
