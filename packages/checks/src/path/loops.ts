import { canonicalJson } from '@agentci/lib/data';
import { v } from '@agentci/lib/values';
import type { ToolStep } from '@agentci/trace';
import { capturedCalls } from '@agentci/trace';
import { atMost } from '../bounds.ts';
import { callEvidence, NOT_CAPTURED } from '../calls.ts';
import { defineCheck, unmeasured } from '../check.ts';
import { findCycles } from '../find-cycles.ts';
import { number, plural } from '../words.ts';

const MAX_CYCLE = 20;

export const check = defineCheck({
  layer: 'path',
  key: 'loops',
  severity: 'warn',
  order: 41,
  summary:
    'Calls that go round in circles: cycles of up to `cycle` calls may repeat at most `max` times.',
  wants: ({ by = 'tool', cycle = 2, max = 0 }) =>
    `${max === 0 ? 'No repetitions' : `At most ${plural(max, 'repetition')}`} of cycles of up to ${cycle} ${by === 'tool' ? 'tools' : 'calls'}`,
  failure: {
    why: 'a round of calls was made again',
    help: 'the report marks where each repetition begins. Look at the results before it',
  },
  example: { by: 'call', cycle: 3, max: 1 },
  schema: v.strictObject({
    by: v
      .enum(['tool', 'call'])
      .optional()
      .describe('What makes two calls equal: the tool (the default), or its arguments too'),
    cycle: v
      .int()
      .min(1)
      .max(MAX_CYCLE)
      .optional()
      .describe('The longest cycle that is looked for (default: 2)'),
    max: v.int().min(0).optional().describe('How many repetitions are allowed (default: 0)'),
  }),
  evaluate: ({ by = 'tool', cycle = 2, max = 0 }, { trace }) => {
    const recorded = capturedCalls(trace);
    const what = `repetitions of cycles of up to ${cycle} ${by === 'tool' ? 'tools' : 'calls'}`;
    const unknown = (why: string) =>
      unmeasured(`${what}: not known, ${why}; limit ${number(max)}`, { limit: max });
    // A missing call may lie between two that look like a repetition.
    if (recorded === undefined) return unknown(NOT_CAPTURED);
    if (recorded.isPartial) return unknown('not all tool calls were captured');
    const { calls } = recorded;
    if (
      by === 'call' &&
      calls.some(({ args, argsRaw }) => args === undefined && argsRaw === undefined)
    )
      return unknown('the arguments of some calls were not captured');
    const { repetitions, at } = findCycles(
      calls.map((call) => wordOf(call, by)),
      cycle,
    );
    const rest = { details: { cycles_repeated: repetitions }, evidence: callEvidence(calls, at) };
    return atMost({ quantity: { exact: true, value: repetitions }, max, what, rest });
  },
});

const wordOf = ({ name, args, argsRaw }: ToolStep, by: 'tool' | 'call'): string =>
  by === 'tool' ? name : `${name} ${args === undefined ? argsRaw : canonicalJson(args)}`;
