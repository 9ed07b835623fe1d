import { v } from '@agentci/lib/values';
import { capturedCalls } from '@agentci/trace';
import { argumentIssues } from '../argument-issues.ts';
import { argumentMatcherSchema, isMatcher } from '../argument-matcher.ts';
import { matchCall } from '../call-match.ts';
import { callEvidence, callIndices, NOT_CAPTURED } from '../calls.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { emptyListIssue, patternNameIssues } from '../issues.ts';
import { callText } from '../wants.ts';
import { listed, plural, shortJson } from '../words.ts';

const entrySchema = v.strictObject({
  tool: v.string().describe('Name of the tool; * matches any run of characters'),
  args: v.record(v.string(), v.when(isMatcher, argumentMatcherSchema)).optional(),
});

export const check = defineCheck({
  layer: 'path',
  key: 'forbidden_calls',
  severity: 'fail',
  isFixed: true,
  order: 31,
  summary: 'No call of these tools with these arguments may be made. A call fails the query.',
  wants: (entries) => `No calls like ${listed(entries.map(callText))}`,
  failure: { why: 'a forbidden call was made', help: 'the report shows its arguments' },
  example: [
    { tool: '*rm*', args: { path: { regex: '^/(?!tmp/)' } } },
    { tool: 'git_push', args: { force: true } },
  ],
  schema: v.array(entrySchema),
  inspect: (entries) =>
    entries.length === 0
      ? [emptyListIssue('forbidden_calls')]
      : entries.flatMap(({ tool, args }, i) => [
          ...patternNameIssues('tool', [tool]).map((issue) => ({ ...issue, path: [i, 'tool'] })),
          ...(args === undefined ? [] : argumentIssues(args, [i, 'args'])),
        ]),
  evaluate: (entries, { trace }) => {
    const recorded = capturedCalls(trace);
    if (recorded === undefined)
      return unmeasured(`forbidden calls: not known, ${NOT_CAPTURED}`, { limit: 0 });
    const { calls, isPartial } = recorded;
    const of = (match: 'yes' | 'maybe') =>
      entries.map((entry) =>
        callIndices(calls, (call) => matchCall(entry, call, 'subset', true) === match),
      );
    const hits = of('yes');
    const all = [...new Set(hits.flat())].sort((a, b) => a - b);
    const rest = {
      value: all.length,
      limit: 0,
      details: { forbidden_calls: { violations: all.map((i) => calls[i]!.name) } },
    };
    const item = hits.findIndex((indices) => indices.length > 0);
    if (item >= 0) {
      const { tool, args } = entries[item]!;
      const text = `forbidden calls: ${plural(all.length, 'call')}, limit 0; ${tool}${args === undefined ? '' : ` with ${shortJson(args)}`}`;
      return violated(text, { ...rest, item, evidence: callEvidence(calls, all) });
    }
    const open = of('maybe').flat();
    if (open.length > 0)
      return unmeasured(
        `forbidden calls: not known, the arguments of call ${open[0]! + 1} (${calls[open[0]!]!.name}) are not known`,
        {
          limit: 0,
          evidence: callEvidence(calls, open),
        },
      );
    if (isPartial)
      return unmeasured('forbidden calls: none seen, but not all tool calls were captured', {
        limit: 0,
      });
    return held(`forbidden calls: 0 in ${plural(calls.length, 'call')}`, rest);
  },
});
