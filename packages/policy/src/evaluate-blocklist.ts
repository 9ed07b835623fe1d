import { UserError } from '@agentci/lib/problems';
import { compileGlob } from '@agentci/lib/regex';
import type { BlocklistResult, PolicyViolation } from '@agentci/results';
import { isMeant } from '@agentci/trace';
import { type CallInput, toCalls, unnamedReason } from './call.ts';
import { policyPlace } from './constraint.ts';
import type { NamePattern } from './policy.ts';
import { timed } from './timed.ts';

export interface EvaluateBlocklistInput {
  readonly calls: readonly CallInput[];
  /** Names and globs, or the entries of a parsed policy. */
  readonly blocklist: readonly (string | NamePattern)[];
  readonly now?: () => number;
}

/** Reports all calls of blocked tools, not only the first. */
export function evaluateBlocklist(input: EvaluateBlocklistInput): BlocklistResult {
  return timed(input.now, () => {
    if (!Array.isArray(input.blocklist) || input.blocklist.length === 0)
      throw new UserError('POLICY_CANNOT_FAIL', 'the blocklist is empty, so it cannot fail');
    const patterns = input.blocklist.map((entry) =>
      typeof entry === 'string'
        ? { text: entry, matches: compileGlob(entry), place: undefined }
        : entry,
    );
    const known = new Map<string, (typeof patterns)[number] | undefined>();
    const violations: PolicyViolation[] = [];
    const tools = new Set<string>();
    const calls = toCalls(input.calls);
    for (let i = 0; i < calls.length; i++) {
      const { name, rawName } = calls[i]!;
      const key = rawName ?? name;
      if (!known.has(key))
        known.set(
          key,
          patterns.find(({ matches }) => isMeant(calls[i]!, matches)),
        );
      const hit = known.get(key);
      if (hit === undefined) continue;
      tools.add(name);
      violations.push(blockedViolation(name, hit, i));
    }
    const reason = violations.length > 0 ? undefined : unnamedReason(calls);
    let status: 'error' | 'pass' | 'fail';
    if (violations.length > 0) status = 'fail';
    else if (reason === undefined) status = 'pass';
    else status = 'error';
    return {
      metric: 'tool_blocklist',
      status,
      // A blocklist decides every run, even without calls.
      exercised: 'exercised',
      violations,
      calls_found: violations.length,
      tools: [...tools],
      reason,
    };
  });
}

/** The violation for a call of a blocked tool. */
export const blockedViolation = (
  tool: string,
  { text, place }: { readonly text: string; readonly place: NamePattern['place'] | undefined },
  call: number,
): PolicyViolation => ({
  tool,
  argument: null,
  value: null,
  constraint: `blocklist: ${text}`,
  ...policyPlace(place),
  message: 'Blocked tool called',
  call,
  severity: 'block',
});
