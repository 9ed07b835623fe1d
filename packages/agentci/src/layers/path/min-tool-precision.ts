import { v } from '../../kit/value-schema.ts';
import { toolPrecision } from '../../metrics/trajectory/tool-precision.ts';
import { capturedCalls, namesOf } from '../../trace/known-calls.ts';
import { atLeast } from '../bounds.ts';
import { NOT_CAPTURED } from '../calls.ts';
import { defineCheck, unmeasured } from '../check.ts';
import { neededKeyIssue, textsOf, zeroBoundIssues } from '../issues.ts';
import { number, rounded } from '../words.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'min_tool_precision',
  severity: 'warn',
  order: 70,
  summary: 'At least this share of the tools called must be in `expected_tools`.',
  schema: v.number().min(0).max(1),
  inspect: (min, siblings) => [
    ...zeroBoundIssues('min_tool_precision', min),
    ...(Array.isArray(siblings.expected_tools)
      ? []
      : [neededKeyIssue('min_tool_precision', 'expected_tools', 'error')]),
  ],
  evaluate: (min, { trace, siblings }) => {
    const recorded = capturedCalls(trace);
    if (recorded === undefined)
      return unmeasured(`tool precision: not known, ${NOT_CAPTURED}; minimum ${number(min)}`, {
        limit: min,
      });
    if (!Array.isArray(siblings.expected_tools))
      return unmeasured('tool precision: not known, there is no expected_tools', { limit: min });
    const value = toolPrecision(
      textsOf(siblings.expected_tools),
      namesOf(recorded.calls, textsOf(siblings.expected_tools)),
    );
    return atLeast({
      value,
      min,
      what: 'tool precision',
      ...(recorded.isPartial ? { partial: 'open' } : { rest: { details: { tool_precision: rounded(value) } } }),
    });
  },
});
