import type { Budget } from './budget.ts';
import type { Limits } from './limiter.ts';

/** AgentCI 2.0's ensemble: three votes by two models, so that there is always a majority. */
export const DEFAULT_ENSEMBLE = [
  'claude-sonnet-4-5-20250929',
  'gpt-4o-mini',
  'gpt-4o-mini',
] as const;

/** `judge_config` settings plus the environment. */
export interface JudgeConfig {
  readonly model?: string | undefined;
  readonly temperature?: number | undefined;
  readonly structured_output?: boolean | undefined;
  readonly base_url?: string | undefined;
  readonly api_key_env?: string | undefined;
  readonly timeout_ms?: number | undefined;
  readonly retries?: number | undefined;
  /** false: verdicts are neither stored nor reused. */
  readonly cache?: boolean | undefined;
  readonly ensemble?:
    | {
        readonly enabled?: boolean | undefined;
        /** Default: `DEFAULT_ENSEMBLE`. */
        readonly models?: readonly string[] | undefined;
        readonly strategy?: 'majority_vote' | undefined;
      }
    | undefined;
  /** `recorded` never calls a model, and a missing verdict is a failure. */
  readonly mode?: 'live' | 'recorded' | undefined;
  /** Folder of stored verdicts. Nothing is stored without it. */
  readonly cacheDir?: string | undefined;
  /** Source of API keys, which go only to the SDK. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly budget?: Budget | undefined;
  /** Per provider. */
  readonly limits?: Limits | undefined;
  /** Randomness for retry jitter, 0 ≤ x < 1. */
  readonly random?: (() => number) | undefined;
}
