import { v } from '@agentci/lib/values';
import { capturedCalls } from '@agentci/trace';
import { callEvidence, isCallOf, NOT_CAPTURED } from '../calls.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { emptyListIssue, nameIssues } from '../issues.ts';
import { clip, listed } from '../words.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'expected_tool_sequence',
  severity: 'warn',
  order: 100,
  summary:
    'These calls must happen in this order. Other calls may come between them. A tool listed twice must be called twice.',
  wants: (names) =>
    `Calls of the tools ${names.map((name) => clip(name)).join(', then ')}, in this order`,
  failure: {
    why: 'the calls do not contain this order',
    help: 'other calls may be in between. Repeated tools count',
  },
  example: ['lookup_order', 'check_policy', 'refund'],
  schema: v.array(v.string()),
  inspect: (tools) =>
    tools.length === 0
      ? [emptyListIssue('expected_tool_sequence')]
      : nameIssues('expected_tool_sequence', tools),
  evaluate: (tools, { trace }) => {
    const limit = tools.length;
    const recorded = capturedCalls(trace);
    if (recorded === undefined)
      return unmeasured(`tool sequence: not known, ${NOT_CAPTURED}`, { limit });
    const { calls, isPartial } = recorded;
    const found: number[] = [];
    for (let i = 0; i < calls.length && found.length < tools.length; i++) {
      if (isCallOf(calls[i]!, tools[found.length])) found.push(i);
    }
    const value = found.length;
    const rest = {
      value,
      limit,
      details: { tool_sequence: { expected: tools, found: value } },
      evidence: callEvidence(calls, found),
    };
    if (value === limit) return held(`tool sequence: ${value} of ${limit} calls in order`, rest);
    if (isPartial)
      return unmeasured(
        `tool sequence: ${value} of ${limit} calls seen in order, but not all tool calls were captured`,
        { limit },
      );
    const after = value === 0 ? '' : ` after ${tools[value - 1]}`;
    return violated(
      `tool sequence: ${value} of ${limit} calls in order; no call of ${tools[value]}${after} (expected ${listed(tools)})`,
      rest,
    );
  },
});
