import { v } from '../../kit/value-schema.ts';
import { toolF1 } from '../../metrics/trajectory/tool-f1.ts';
import { capturedCalls, namesOf } from '../../trace/known-calls.ts';
import { atLeast } from '../bounds.ts';
import { NOT_CAPTURED } from '../calls.ts';
import { defineCheck, unmeasured } from '../check.ts';
import { neededKeyIssue, textsOf, zeroBoundIssues } from '../issues.ts';
import { number, rounded } from '../words.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'min_tool_f1',
  severity: 'warn',
  order: 80,
  summary: 'The harmonic mean of tool recall and precision must be at least this.',
  schema: v.number().min(0).max(1),
  inspect: (min, siblings) => [
    ...zeroBoundIssues('min_tool_f1', min),
    ...(Array.isArray(siblings.expected_tools) ? [] : [neededKeyIssue('min_tool_f1', 'expected_tools', 'error')]),
  ],
  evaluate: (min, { trace, siblings }) => {
    const recorded = capturedCalls(trace);
    if (recorded === undefined)
      return unmeasured(`tool F1: not known, ${NOT_CAPTURED}; minimum ${number(min)}`, { limit: min });
    if (!Array.isArray(siblings.expected_tools))
      return unmeasured('tool F1: not known, there is no expected_tools', { limit: min });
    const value = toolF1(textsOf(siblings.expected_tools), namesOf(recorded.calls, textsOf(siblings.expected_tools)));
    return atLeast({
      value,
      min,
      what: 'tool F1',
      ...(recorded.isPartial ? { partial: 'open' } : { rest: { details: { tool_f1: rounded(value) } } }),
    });
  },
});
