import type { Policy } from '@agentci/policy';
import type { Audit } from './audit.ts';
import type { DenyAs } from './refusal.ts';

export type GuardMode = 'enforce' | 'shadow';

export interface GuardOptions {
  readonly policy: Policy;
  readonly mode: GuardMode;
  readonly strict: boolean;
  readonly denyAs: DenyAs;
  /** The server's name for clients. `mcp__NAME__tool` means its tools too. */
  readonly server: string | undefined;
  readonly audit: Audit;
  readonly auditArgs: 'redacted' | 'hash';
  /** The agent of this client, because rules may apply to some agents only. */
  readonly agent?: string;
  /** Clock in milliseconds, for rules about time. */
  readonly now?: () => number;
  /** Hash of the policy's texts, for the audit. */
  readonly policyHash?: string;
  /** Called for errors in the guard itself. */
  readonly onProblem: (message: string) => void;
}
