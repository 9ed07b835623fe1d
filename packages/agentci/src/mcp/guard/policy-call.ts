import type { PolicyCall } from '../../policy/call.ts';
import type { GuardOptions } from './guard-options.ts';

/** A call as the policy sees it. */
export const policyCall = (
  { server, agent }: Pick<GuardOptions, 'server' | 'agent'>,
  name: string,
  args: unknown,
  at_ms?: number,
): PolicyCall => ({
  name,
  args,
  ...(server === undefined ? {} : { rawName: `mcp__${server}__${name}` }),
  ...(agent === undefined ? {} : { agent }),
  ...(at_ms === undefined ? {} : { at_ms }),
});
