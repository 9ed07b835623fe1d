import { v } from '@agentci/lib/values';
import { agentKey, coverage } from '@agentci/trace';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { listIssues } from '../issues.ts';
import { toolsText } from '../wants.ts';
import { listed } from '../words.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'expected_handoffs_available',
  severity: 'warn',
  order: 130,
  summary: 'Some agent of the run must be able to hand off to each of these agents.',
  wants: (agents) => `Handoffs available to ${toolsText(agents)}`,
  failure: {
    why: 'an agent could not hand over to one it should know',
    help: 'check how the agents are wired',
  },
  example: ['BillingAgent', 'TechnicalAgent'],
  schema: v.array(v.string()),
  inspect: (agents) => listIssues('expected_handoffs_available', agents),
  evaluate: (agents, { trace }) => {
    const limit = agents.length;
    const known = trace.agents.flatMap((agent) => agent.canHandOffTo ?? []);
    const isKnown = trace.agents.some((agent) => agent.canHandOffTo !== undefined);
    if (!isKnown)
      return unmeasured('available handoffs: not known, they were not captured', { limit });
    const available = new Set(known);
    const keys = new Set(known.map(agentKey));
    const missing = agents.filter((agent) => !keys.has(agentKey(agent)));
    const value = limit - missing.length;
    const rest = {
      value,
      limit,
      details: { handoffs_available: { expected: agents, actual: [...available] } },
    };
    if (missing.length === 0)
      return held(`available handoffs: ${value} of ${limit} expected`, rest);
    if (coverage(trace, 'agents') !== 'full')
      return unmeasured('available handoffs: not known, not all agents were captured', { limit });
    return violated(
      `available handoffs: ${value} of ${limit} expected; missing: ${listed(missing)}`,
      rest,
    );
  },
});
