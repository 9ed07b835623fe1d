import type { Problem } from '@agentci/lib/problems';
import { compileGlob, type GlobMatcher } from '@agentci/lib/regex';
import { v } from '@agentci/lib/values';
import { capturedCalls, isMeant } from '@agentci/trace';
import { callEvidence, callIndices, NOT_CAPTURED } from '../calls.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { contradiction, emptyListIssue, patternNameIssues, textsOf } from '../issues.ts';
import { toolsText } from '../wants.ts';
import { listed, plural } from '../words.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'forbidden_tools',
  severity: 'fail',
  isFixed: true,
  order: 30,
  summary:
    'None of these tools may be called. `*` matches any run of characters. A call fails the query.',
  wants: (names) => `No calls of the tools ${toolsText(names)}`,
  failure: {
    why: 'a tool that matches the list was called',
    help: 'the message names the step. Take the tool away from the agent or say in the prompt when not to use it',
  },
  example: ['delete_account', 'admin_*', '*_dangerous'],
  schema: v.array(v.string()),
  inspect: (patterns, siblings) => [
    ...(patterns.length === 0
      ? [emptyListIssue('forbidden_tools')]
      : patternNameIssues('forbidden_tools', patterns)),
    ...contradictions(patterns, siblings),
  ],
  evaluate: (patterns, { trace }) => {
    const recorded = capturedCalls(trace);
    if (recorded === undefined)
      return unmeasured(`forbidden tools: not known, ${NOT_CAPTURED}`, { limit: 0 });
    const { calls, isPartial } = recorded;
    const isForbidden = anyOf(patterns);
    const hits = callIndices(calls, (call) => isMeant(call, isForbidden));
    const violations = [...new Set(hits.map((i) => calls[i]!.name))];
    const rest = { value: hits.length, limit: 0, details: { forbidden_tools: { violations } } };
    if (hits.length > 0) {
      return violated(
        `forbidden tools called: ${plural(hits.length, 'call')} of ${listed(violations)}, limit 0`,
        {
          ...rest,
          evidence: callEvidence(calls, hits),
        },
      );
    }
    if (isPartial)
      return unmeasured('forbidden tools: none seen, but not all tool calls were captured', {
        limit: 0,
      });
    return held(`forbidden tools called: 0 in ${plural(calls.length, 'call')}`, rest);
  },
});

const matchers = new WeakMap<readonly string[], GlobMatcher>();

/** One compiled matcher for a list of patterns, with a cache by name. */
function anyOf(patterns: readonly string[]): GlobMatcher {
  let matcher = matchers.get(patterns);
  if (matcher === undefined) {
    const globs = patterns.map(compileGlob);
    matcher = (name) => globs.some((glob) => glob(name));
    matchers.set(patterns, matcher);
  }
  return matcher;
}

function contradictions(
  patterns: readonly string[],
  siblings: Readonly<Record<string, unknown>>,
): Problem[] {
  const args = Array.isArray(siblings.expected_tool_args) ? siblings.expected_tool_args : [];
  const asked = new Set([
    ...textsOf(siblings.expected_tools),
    ...textsOf(siblings.expected_tool_sequence),
    ...textsOf(args.map((entry: { tool?: unknown } | null) => entry?.tool)),
  ]);
  return patterns.flatMap((pattern, i) => {
    const clash = [...asked].find(compileGlob(pattern));
    return clash === undefined
      ? []
      : [contradiction(`"${pattern}" is forbidden, but the tool "${clash}" is expected`, [i])];
  });
}
