import type { PolicyCall } from '@agentci/policy';
import type { GuardOptions } from './guard-options.ts';

/** Converts a call for the policy. */
export const policyCall = (
  { server, agent }: Pick<GuardOptions, 'server' | 'agent'>,
  name: string,
  args: unknown,
  at_ms?: number,
): PolicyCall => ({
  name,
  args,
  rawName: server === undefined ? undefined : `mcp__${server}__${name}`,
  agent,
  at_ms,
});
