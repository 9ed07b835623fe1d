import { pause, retryDelay } from '@agentci/lib/net';
import { AgentError } from '../runners/runner.ts';

export interface RetryOptions {
  /** Maximum number of retries. */
  readonly retries: number;
  readonly signal: AbortSignal;
  /** 0 ≤ x < 1. Passed in so that a run repeats. */
  readonly random: () => number;
  readonly onRetry?: (attempt: number, error: AgentError, delayMs: number) => void;
}

/** Retries after infrastructure errors only, with a wait of `retryDelay`. */
export async function withRetries<T>(
  attempt: (n: number) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  for (let n = 0; ; n++) {
    try {
      return await attempt(n);
    } catch (error) {
      if (
        !(error instanceof AgentError) ||
        error.kind !== 'infra' ||
        n >= options.retries ||
        options.signal.aborted
      )
        throw error;
      const delayMs = retryDelay(n, error.retryAfterMs, options.random);
      options.onRetry?.(n + 1, error, delayMs);
      await pause(delayMs, options.signal);
      if (options.signal.aborted) throw error;
    }
  }
}
