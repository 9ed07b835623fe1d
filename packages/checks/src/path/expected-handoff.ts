import { v } from '@agentci/lib/values';
import { firstEvidence } from '@agentci/results';
import { agentKey, coverage, handoffs } from '@agentci/trace';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { blankIssues } from '../issues.ts';
import { clip, listed } from '../words.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'expected_handoff',
  severity: 'warn',
  order: 120,
  summary: 'The run must be handed off to this agent at some point.',
  wants: (agent) => `A handoff to ${clip(agent)}`,
  failure: { why: 'control was not handed to this agent', help: "check the router's instructions" },
  example: 'BillingAgent',
  schema: v.string(),
  inspect: (agent) =>
    blankIssues('expected_handoff', [agent]).map(({ path: _path, ...issue }) => ({
      ...issue,
      message: 'expected_handoff is blank',
    })),
  evaluate: (agent, { trace }) => {
    const level = coverage(trace, 'handoffs');
    if (level === 'none')
      return unmeasured(`handoff to ${agent}: not known, handoffs were not captured`, {
        limit: agent,
      });
    const steps = handoffs(trace);
    const actual = steps.map((step) => step.to);
    const hit = steps.find((step) => agentKey(step.to) === agentKey(agent));
    const rest = {
      value: actual,
      limit: agent,
      details: { handoffs: { expected: agent, actual } },
    };
    if (hit !== undefined)
      return held(`handoff to ${agent}: made by ${hit.from}, 1 of ${steps.length} handoffs`, {
        ...rest,
        evidence: [{ step: hit.seq }],
      });
    if (level === 'partial')
      return unmeasured(`handoff to ${agent}: not seen, but not all handoffs were captured`, {
        limit: agent,
      });
    return violated(`handoff to ${agent}: not made; handoffs went to ${listed(actual)}`, {
      ...rest,
      evidence: firstEvidence(
        steps.map((step) => ({ step: step.seq, text: step.to })),
        20,
      ),
    });
  },
});
