import type { DenyAs, GuardMode } from '@agentci/mcp';

/** What a policy wants and no refusal can bring about. */
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
  /** Where this file is there, it answers in place of the server. For the capture of a run, whose queries each have one. */
  readonly play?: string;
}
