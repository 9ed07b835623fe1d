import type { Budget } from './budget.ts';
import type { Limits } from './limiter.ts';

/** The ensemble of AgentCI 2.0: three votes by two models, so that there is always a majority. */
export const DEFAULT_ENSEMBLE = [
  'claude-sonnet-4-5-20250929',
  'gpt-4o-mini',
  'gpt-4o-mini',
] as const;

/** The settings of `judge_config`, and what the surroundings provide. */
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
        /** `DEFAULT_ENSEMBLE` when not written. */
        readonly models?: readonly string[] | undefined;
        readonly strategy?: 'majority_vote' | undefined;
      }
    | undefined;
  /** `recorded` never calls: a verdict that is not stored is a failure. */
  readonly mode?: 'live' | 'recorded' | undefined;
  /** Folder of stored verdicts; none are stored when it is not given. */
  readonly cacheDir?: string | undefined;
  /** Where keys are looked for. They are handed to the SDK and go nowhere else. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly budget?: Budget | undefined;
  /** Per provider. */
  readonly limits?: Limits | undefined;
  /** Of the jitter between retries; 0 ≤ x < 1. */
  readonly random?: (() => number) | undefined;
}
