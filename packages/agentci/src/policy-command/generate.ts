import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '@agentci/lib/problems';
import {
  CallTable,
  evaluateArguments,
  evaluatePrepared,
  type Policy,
  PolicyLearner,
  parsePolicy,
} from '@agentci/policy';
import type { Io } from '../cli/io.ts';
import type { PolicyOptions, PolicyReport } from './load-policy.ts';
import { tracesOf } from './policy-traces.ts';

export async function learnPolicy(options: PolicyOptions, io: Io): Promise<PolicyReport> {
  // Never replaces an existing policy, because someone may have edited it.
  if (options.output !== undefined && !options.force && existsSync(resolve(io.cwd, options.output)))
    throw new UserError('FILE_EXISTS', `"${options.output}" exists already`, {
      hint: '--force writes over it',
    });
  const learner = new PolicyLearner();
  for await (const { calls } of tracesOf(options, io)) learner.add(calls);
  if (learner.calls === 0)
    throw new UserError(
      'POLICY_VALUE',
      'no tool calls found in the traces, so there is nothing to learn from',
    );
  const yaml = learner.yaml();
  const { policy, diagnostics } = parsePolicy(yaml, { file: 'policy.yaml' });
  if (policy === undefined) {
    // A policy cannot be derived from calls without arguments or order.
    throw new UserError(
      'NOTHING_FOUND',
      `no policy can be made of these traces: ${diagnostics[0]?.message ?? ''}`,
    );
  }
  await proveAccepted(policy, options, io);
  return { text: yaml, code: 0 };
}

/**
 * The generated policy must accept its recordings. Otherwise it is a bug, and nothing is written.
 */
async function proveAccepted(policy: Policy, options: PolicyOptions, io: Io): Promise<void> {
  for await (const { trace, calls } of tracesOf(options, io)) {
    const [violation] = [
      ...evaluateArguments({ calls, policy }).violations,
      ...evaluatePrepared(new CallTable(calls), policy.rules, trace.status !== 'incomplete')
        .violations,
    ];
    if (violation !== undefined)
      throw new Error(`the learned policy refuses ${trace.id}: ${violation.message}`);
  }
}
