/** Adds `duration_ms`, the one field that is not the same each time; a clock of the caller's own makes it so. */
export function timed<T extends object>(
  now: () => number = () => performance.now(),
  work: () => T,
): T {
  const started = now();
  const result = work();
  return { ...result, duration_ms: Math.round((now() - started) * 1000) / 1000 };
}
