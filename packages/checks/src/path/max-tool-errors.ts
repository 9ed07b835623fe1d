import { v } from '@agentci/lib/values';
import { capturedCalls } from '@agentci/trace';
import { atMost } from '../bounds.ts';
import { callEvidence, callIndices, NOT_CAPTURED } from '../calls.ts';
import { defineCheck, unmeasured } from '../check.ts';
import { upTo } from '../wants.ts';
import { number } from '../words.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'max_tool_errors',
  severity: 'warn',
  order: 44,
  summary: 'At most this many tool calls may end in an error.',
  wants: upTo('failed tool call'),
  failure: { why: 'too many calls ended in an error', help: 'look at the errors in the report' },
  example: 0,
  schema: v.int().min(0),
  evaluate: (max, { trace }) => {
    const recorded = capturedCalls(trace);
    const what = 'tool calls that ended in an error';
    if (recorded === undefined)
      return unmeasured(`${what}: not known, ${NOT_CAPTURED}; limit ${number(max)}`, {
        limit: max,
      });
    const { calls, isPartial } = recorded;
    const failed = callIndices(
      calls,
      ({ status, error }) => status === 'error' || status === 'denied' || error !== undefined,
    );
    const open = callIndices(
      calls,
      ({ status, error }) => error === undefined && (status === 'unknown' || status === 'pending'),
    );
    const why = isPartial
      ? 'not all tool calls were captured'
      : `how ${open.length} of the calls ended was not captured`;
    const isOpen = isPartial || open.length > 0;
    return atMost({
      quantity: isOpen
        ? { exact: false, atLeast: failed.length, why }
        : { exact: true, value: failed.length },
      max,
      what,
      rest: { evidence: callEvidence(calls, failed), details: { tool_errors: failed.length } },
    });
  },
});
