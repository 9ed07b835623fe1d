const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 120_000;
/** So much of a wait is left to chance, to both sides: many that failed together do not come back together. */
const JITTER = 0.2;

/** How long to wait before try `attempt + 1`: 1 s, 2 s, then doubling, ± 20 %. What the server asked for wins; at most 120 s. */
export function retryDelay(
  attempt: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  if (retryAfterMs !== undefined) return Math.min(Math.max(0, retryAfterMs), LONGEST_WAIT_MS);
  const jitter = 1 + JITTER * (2 * random() - 1);
  return Math.min(FIRST_WAIT_MS * 2 ** attempt * jitter, LONGEST_WAIT_MS);
}

/** Waits, but not beyond an interruption. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish, { once: true });
  });
}
