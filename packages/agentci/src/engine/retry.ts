import { AgentError } from '../runners/runner.ts';

export interface RetryOptions {
  /** Further tries after the first. */
  readonly retries: number;
  readonly signal: AbortSignal;
  /** 0 ≤ x < 1; handed in so that a run repeats. */
  readonly random: () => number;
  readonly onRetry?: (attempt: number, error: AgentError, delayMs: number) => void;
}

const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 120_000;
/** Two runs that failed together must not come back together. */
const JITTER = 0.2;

/** Tries again after infrastructure errors only: exponential with jitter, `Retry-After` honoured. */
export async function withRetries<T>(attempt: (n: number) => Promise<T>, options: RetryOptions): Promise<T> {
  for (let n = 0; ; n++) {
    try {
      return await attempt(n);
    } catch (error) {
      if (!(error instanceof AgentError) || error.kind !== 'infra' || n >= options.retries || options.signal.aborted)
        throw error;
      const delayMs = retryDelay(n, error.retryAfterMs, options.random);
      options.onRetry?.(n + 1, error, delayMs);
      await sleep(delayMs, options.signal);
      if (options.signal.aborted) throw error;
    }
  }
}

/** 1 s, 2 s, then doubling, give or take a fifth; what the server asks for wins; two minutes at most. */
export function retryDelay(attempt: number, retryAfterMs: number | undefined, random: () => number): number {
  const jittered = FIRST_DELAY_MS * 2 ** attempt * (1 - JITTER + 2 * JITTER * random());
  return Math.min(LONGEST_DELAY_MS, retryAfterMs ?? jittered);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(finish, ms);
    function finish() {
      clearTimeout(timer);
      signal.removeEventListener('abort', finish);
      resolve();
    }
    signal.addEventListener('abort', finish, { once: true });
  });
}
