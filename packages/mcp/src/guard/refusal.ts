import type { LiveVerdict } from '@agentci/policy';
import { isModern, type Message } from '../message.ts';

/** The reason for a refusal, for the client and the audit. */
export interface RefusalReason {
  readonly rule: string;
  readonly reason: string;
  readonly policy_line: number | null;
  readonly policy_file?: string;
}

export const NOT_NOTED: RefusalReason = {
  rule: 'guard.audit',
  reason: 'the decision could not be written to the audit log',
  policy_line: null,
};

/** The verdict if the policy failed. */
export const FAILED: LiveVerdict = {
  verdict: 'unknown',
  by: [
    {
      rule: 'guard.error',
      reason: 'could not tell: the policy could not be evaluated',
      policy_line: null,
    },
  ],
};

export type DenyAs = 'result' | 'error';

/** From the JSON-RPC range for server-defined errors. */
const REFUSED = -32000;

/** The first reason against a call. */
export function refusalReason({ verdict, by }: LiveVerdict): RefusalReason {
  const [first] = by;
  if (first === undefined)
    return { rule: 'guard.error', reason: 'no reason was given', policy_line: null };
  const { rule, reason, policy_line, policy_file } = first;
  return {
    rule,
    reason:
      verdict === 'unknown' && !reason.startsWith('could not tell')
        ? `could not tell: ${reason}`
        : reason,
    policy_line,
    policy_file,
  };
}

/**
 * The answer to a refused call. The model can read a result with `isError` and try something else.
 * `_meta` tells clients that the call was refused and did not fail.
 */
export function refusalReply(
  id: unknown,
  refusal: RefusalReason,
  {
    policy,
    version,
    denyAs,
  }: { readonly policy: string; readonly version: string | undefined; readonly denyAs: DenyAs },
): Message {
  const { rule, reason, policy_line, policy_file } = refusal;
  const place = policy_line === null ? '' : ` (${policy_file ?? policy}:${policy_line})`;
  const text = `refused by policy: ${rule}${place}: ${reason}`;
  const decision = {
    decision: 'deny',
    rule,
    reason,
    policy_line: policy_line !== null ? policy_line : undefined,
  };
  if (denyAs === 'error')
    return {
      jsonrpc: '2.0',
      id,
      error: { code: REFUSED, message: text, data: { 'agentci/decision': decision } },
    };
  return {
    jsonrpc: '2.0',
    id,
    result: {
      resultType: isModern(version) ? 'complete' : undefined,
      content: [{ type: 'text', text }],
      isError: true,
      _meta: { 'agentci/decision': decision },
    },
  };
}
