import type { Policy } from '@agentci/policy';
import type { Audit } from './audit.ts';
import type { DenyAs } from './refusal.ts';

export type GuardMode = 'enforce' | 'shadow';

export interface GuardOptions {
  readonly policy: Policy;
  readonly mode: GuardMode;
  readonly strict: boolean;
  readonly denyAs: DenyAs;
  /** The name that clients know the server by; `mcp__NAME__tool` means its tools too. */
  readonly server: string | undefined;
  readonly audit: Audit;
  readonly auditArgs: 'redacted' | 'hash';
  /** The agent whose client this is; rules may be about some agents alone. */
  readonly agent?: string;
  /** Milliseconds, for rules about time. */
  readonly now?: () => number;
  /** Of the policy's texts, for the audit. */
  readonly policyHash?: string;
  /** Told of what went wrong in the guard itself. */
  readonly onProblem: (message: string) => void;
}
