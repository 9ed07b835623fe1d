import { v } from '@agentci/lib/values';
import { countLoops } from '@agentci/metrics';
import { capturedCalls, namesOf } from '@agentci/trace';
import { atMost } from '../bounds.ts';
import { callEvidence, NOT_CAPTURED } from '../calls.ts';
import { defineCheck, unmeasured } from '../check.ts';
import { upTo } from '../wants.ts';
import { number } from '../words.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'max_loops',
  severity: 'warn',
  order: 40,
  summary: 'At most this many calls may repeat the call right before them.',
  wants: upTo('loop'),
  failure: {
    why: 'the same call came several times in a row',
    help: 'usually a tool that returns nothing useful. Look at its result',
  },
  example: 2,
  schema: v.number().int().min(0),
  evaluate: (max, { trace }) => {
    const recorded = capturedCalls(trace);
    // A missing call may lie between two that look like a repetition.
    if (recorded === undefined || recorded.isPartial) {
      const why = recorded === undefined ? NOT_CAPTURED : 'not all tool calls were captured';
      return unmeasured(`loops: not known, ${why}; limit ${number(max)}`, { limit: max });
    }
    const { calls } = recorded;
    const value = countLoops(namesOf(calls));
    const repeats = calls.flatMap((call, i) =>
      i > 0 && call.name === calls[i - 1]!.name ? [i] : [],
    );
    const rest = { details: { loops_detected: value }, evidence: callEvidence(calls, repeats) };
    return atMost({
      quantity: { exact: true, value },
      max,
      what: 'loops (consecutive repeats)',
      rest,
    });
  },
});
