const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 120_000;
const JITTER = 0.2;

/** 1 s, 2 s, then doubling, give or take a fifth; what the server asks for wins; two minutes at most. */
export function retryDelay(attempt: number, retryAfterMs: number | undefined, random: () => number): number {
  const jittered = FIRST_DELAY_MS * 2 ** attempt * (1 - JITTER + 2 * JITTER * random());
  return Math.min(LONGEST_DELAY_MS, retryAfterMs ?? jittered);
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
