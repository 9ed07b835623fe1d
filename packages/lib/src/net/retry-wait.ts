const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 120_000;
/** Random share of a wait, in both directions, so that many failed calls do not return at once. */
const JITTER = 0.2;

/**
 * Wait before retry `attempt + 1`: 1 s, 2 s, then doubling, ± 20 %. Retry-After wins, up to 120 s.
 */
export function retryDelay(
  attempt: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  if (retryAfterMs !== undefined) return Math.min(Math.max(0, retryAfterMs), LONGEST_WAIT_MS);
  const jitter = 1 + JITTER * (2 * random() - 1);
  return Math.min(FIRST_WAIT_MS * 2 ** attempt * jitter, LONGEST_WAIT_MS);
}

/** Waits, or returns early on interruption. */
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
