/** Adds `duration_ms`, the only nondeterministic field. A custom clock makes it deterministic. */
export function timed<T extends object>(
  now: () => number = () => performance.now(),
  work: () => T,
): T {
  const started = now();
  const result = work();
  return { ...result, duration_ms: Math.round((now() - started) * 1000) / 1000 };
}
