const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
const LONGEST_RETRY_AFTER_MS = 120_000;

/** How long to wait before the next try: doubling, with jitter, and never less than the server asked for. */
export function retryDelay(attempt: number, retryAfterMs: number | undefined, random: () => number): number {
  const backoff = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt) * (0.5 + random() / 2);
  return retryAfterMs === undefined ? backoff : Math.max(backoff, Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS));
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
