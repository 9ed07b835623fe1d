import { UserError } from '@agentci/lib/problems';
import { compileGlob } from '@agentci/lib/regex';
import { didYouMean } from '@agentci/lib/text';
import type { ArgumentsResult } from '@agentci/results';
import { isMeant } from '@agentci/trace';
import { type CallInput, toCalls } from './call.ts';
import { CallJudge } from './call-judge.ts';
import { parsePolicy } from './parse-policy.ts';
import type { Policy } from './policy.ts';
import { timed } from './timed.ts';

export interface EvaluateArgumentsInput {
  readonly calls: readonly CallInput[];
  /** A policy from `parsePolicy`, or as an object. */
  readonly policy: Policy | Readonly<Record<string, unknown>>;
  /** Limits the check to these tools (globs). */
  readonly tools?: readonly string[];
  /** Calls of tools missing in the policy fail. */
  readonly strict?: boolean;
  readonly now?: () => number;
}

/** Checks the arguments of every call, and its name against the allow and deny lists. */
export function evaluateArguments(input: EvaluateArgumentsInput): ArgumentsResult {
  return timed(input.now, () => {
    const policy = asPolicy(input.policy, input.strict ?? false);
    const filter = nameFilter(policy, input.tools, input.strict ?? false);
    const judge = new CallJudge(policy, input.strict ?? false);
    const calls = toCalls(input.calls);
    for (let i = 0; i < calls.length; i++) {
      const call = calls[i]!;
      if (filter === undefined || isMeant(call, filter)) judge.add(call, i);
    }
    return judge.result();
  });
}

const isParsed = (policy: EvaluateArgumentsInput['policy']): policy is Policy =>
  policy.tools instanceof Map && Array.isArray(policy.toolGlobs);

function asPolicy(written: EvaluateArgumentsInput['policy'], strict: boolean): Policy {
  if (isParsed(written)) return written;
  const { policy, diagnostics } = parsePolicy(JSON.stringify(written, null, 2), {
    file: 'policy',
    strict,
  });
  if (policy !== undefined) return policy;
  const first = diagnostics.find(({ severity }) => severity === 'error');
  throw new UserError(
    first?.code ?? 'POLICY_INVALID',
    `the policy cannot be used: ${first?.message ?? ''}`,
    {
      diagnostics,
    },
  );
}

/** A filter without matching checks would always pass. */
export function filterProblem(
  policy: Policy,
  tools: readonly string[],
  strict: boolean,
): string | undefined {
  if (strict || policy.deny.length > 0 || policy.allow !== undefined || policy.limits.length > 0)
    return undefined;
  if (policy.unconstrained !== undefined && policy.unconstrained.mode !== 'allow') return undefined;
  const globs = tools.map(compileGlob);
  const known = [...policy.tools.values()];
  if (known.some((tool) => tool.schema !== undefined && globs.some((glob) => glob(tool.name))))
    return undefined;
  if (policy.toolGlobs.some(({ matches }) => tools.some(matches))) return undefined;
  const near = tools
    .map((tool) => didYouMean(tool, policy.tools.keys()))
    .find((name) => name !== undefined);
  return `the policy asks nothing of ${tools.join(', ')}${near === undefined ? '' : `; did you mean "${near}"?`}`;
}

function nameFilter(policy: Policy, tools: readonly string[] | undefined, strict: boolean) {
  if (tools === undefined || tools.length === 0) return undefined;
  const problem = filterProblem(policy, tools, strict);
  if (problem !== undefined) throw new UserError('POLICY_CANNOT_FAIL', problem);
  const globs = tools.map(compileGlob);
  return (name: string): boolean => globs.some((glob) => glob(name));
}
