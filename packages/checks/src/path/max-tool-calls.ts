import type { Problem } from '@agentci/lib/problems';
import { v } from '@agentci/lib/values';
import { quantityOf, toolCalls } from '@agentci/trace';
import { atMost } from '../bounds.ts';
import { callEvidence } from '../calls.ts';
import { defineCheck } from '../check.ts';
import { contradiction, textsOf } from '../issues.ts';
import { upTo } from '../wants.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'max_tool_calls',
  severity: 'warn',
  order: 10,
  summary: 'The run may call tools at most this often.',
  wants: upTo('tool call'),
  failure: {
    why: 'more calls than allowed',
    help: 'look for repeated calls with the same arguments',
  },
  example: 3,
  schema: v.number().int().min(0),
  inspect: (max, siblings) => contradictions(max, siblings),
  evaluate: (max, { trace, totals }) => {
    const quantity = quantityOf(trace, totals.toolCalls);
    const calls = toolCalls(trace);
    const over = calls.slice(max).map((_, i) => max + i);
    const details = quantity.exact
      ? { details: { tool_calls: { actual: quantity.value, max } } }
      : {};
    return atMost({
      quantity,
      max,
      what: 'tool calls',
      rest: { ...details, evidence: callEvidence(calls, over) },
    });
  },
});

function contradictions(max: number, siblings: Readonly<Record<string, unknown>>): Problem[] {
  const sequence = textsOf(siblings.expected_tool_sequence).length;
  if (sequence > max)
    return [
      contradiction(`max_tool_calls is ${max}, but expected_tool_sequence has ${sequence} calls`),
    ];
  const expected = new Set(textsOf(siblings.expected_tools)).size;
  // With a recall bound, not every expected tool must be called.
  if (expected > max && siblings.min_tool_recall === undefined)
    return [contradiction(`max_tool_calls is ${max}, but expected_tools has ${expected} tools`)];
  return [];
}
