import type { DenyAs, GuardMode } from '@agentci/mcp';

/** Code for a part of the policy that the guard cannot enforce. */
export const LEFT_OPEN = 'GUARD_LEFT_OPEN';

export interface GuardFlags {
  readonly policy?: string;
  readonly mode?: GuardMode;
  readonly audit?: string;
  readonly auditArgs?: 'redacted' | 'hash';
  readonly denyAs?: DenyAs;
  readonly server?: string;
  readonly strict?: boolean;
  readonly agent?: string;
  readonly url?: string;
  readonly listen?: string;
  readonly scope?: 'client' | 'process';
}

export interface TapFlags {
  readonly server?: string;
  readonly out?: string;
  readonly url?: string;
  readonly listen?: string;
  readonly cassette?: string;
  readonly unmasked?: boolean;
  /**
   * If this file exists, it answers in place of the server. Used by captured runs, which have one
   * file per query.
   */
  readonly play?: string;
}
