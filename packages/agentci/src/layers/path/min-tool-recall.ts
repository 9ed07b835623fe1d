import { v } from '../../kit/value-schema.ts';
import { toolRecall } from '../../metrics/trajectory/tool-recall.ts';
import { capturedCalls, namesOf } from '../../trace/known-calls.ts';
import { atLeast } from '../bounds.ts';
import { NOT_CAPTURED } from '../calls.ts';
import { defineCheck, unmeasured } from '../check.ts';
import { neededKeyIssue, textsOf, zeroBoundIssues } from '../issues.ts';
import { number, rounded } from '../words.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'min_tool_recall',
  severity: 'warn',
  order: 60,
  summary: 'At least this share of `expected_tools` must be called.',
  schema: v.number().min(0).max(1),
  inspect: (min, siblings) => [
    ...zeroBoundIssues('min_tool_recall', min),
    ...(Array.isArray(siblings.expected_tools) ? [] : [neededKeyIssue('min_tool_recall', 'expected_tools', 'error')]),
  ],
  evaluate: (min, { trace, siblings }) => {
    const recorded = capturedCalls(trace);
    if (recorded === undefined)
      return unmeasured(`tool recall: not known, ${NOT_CAPTURED}; minimum ${number(min)}`, {
        limit: min,
      });
    if (!Array.isArray(siblings.expected_tools))
      return unmeasured('tool recall: not known, there is no expected_tools', { limit: min });
    const value = toolRecall(
      textsOf(siblings.expected_tools),
      namesOf(recorded.calls, textsOf(siblings.expected_tools)),
    );
    return atLeast({
      value,
      min,
      what: 'tool recall',
      ...(recorded.isPartial ? { partial: 'rising' } : { rest: { details: { tool_recall: rounded(value) } } }),
    });
  },
});
