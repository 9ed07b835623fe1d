import type { Problem } from '@agentci/lib/problems';
import { RegexTimeout } from '@agentci/lib/regex';
import { type Infer, v } from '@agentci/lib/values';
import type { ToolStep } from '@agentci/trace';
import { capturedCalls } from '@agentci/trace';
import { argumentIssues } from '../argument-issues.ts';
import {
  argumentMatcherSchema,
  argumentMismatch,
  isMatcher,
  MATCHER_KEYS,
} from '../argument-matcher.ts';
import { callEvidence, callIndices, isCallOf, NOT_CAPTURED } from '../calls.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { emptyListIssue, nameIssues } from '../issues.ts';
import { callText } from '../wants.ts';
import { listed } from '../words.ts';

const entrySchema = v.strictObject({
  tool: v.string(),
  args: v.record(v.string(), v.when(isMatcher, argumentMatcherSchema)),
});
type Entry = Infer<typeof entrySchema>;

export const check = defineCheck({
  layer: 'path',
  key: 'expected_tool_args',
  severity: 'warn',
  order: 110,
  summary: 'For each entry, some call of the tool must have all these arguments.',
  wants: (entries) => `Calls with these arguments: ${listed(entries.map(callText))}`,
  failure: {
    why: 'no call of the tool has these arguments',
    help: 'the message shows the nearest call. Allow variation with `regex`, `one_of` or `ignore`',
  },
  example: [
    {
      tool: 'refund',
      args: {
        order_id: { regex: '^ORD-\\d+$' },
        amount: { equals: 19.99, tolerance: 0.01 },
        currency: { one_of: ['EUR', 'USD'] },
        options: { subset: { notify: true } },
        trace_id: { ignore: true },
      },
    },
    { tool: 'lookup_order', args: { order_id: 'ORD-7' } },
  ],
  schema: v.array(entrySchema),
  inspect: (entries) =>
    entries.length === 0 ? [emptyListIssue('expected_tool_args')] : entries.flatMap(entryIssues),
  evaluate: (entries, { trace }) => {
    const limit = entries.length;
    const recorded = capturedCalls(trace);
    if (recorded === undefined)
      return unmeasured(`tool arguments: not known, ${NOT_CAPTURED}`, { limit });
    const { calls, isPartial } = recorded;
    const verdicts = entries.map((entry) => judge(entry, calls, isPartial));
    const wrong = verdicts.filter((verdict) => verdict.is === 'wrong');
    const open = verdicts.filter((verdict) => verdict.is === 'open');
    const value = limit - wrong.length - open.length;
    const evidence = callEvidence(
      calls,
      verdicts.flatMap((verdict) => verdict.calls),
    );
    const details = {
      tool_args: verdicts.map(({ is, why }, i) => ({
        tool: entries[i]!.tool,
        satisfied: is === 'right',
        reason: why !== '' ? why : undefined,
      })),
    };
    const text = `tool arguments: ${value} of ${limit} entries satisfied`;
    if (wrong.length > 0)
      return violated(`${text}; ${wrong.map(({ why }) => why).join(' · ')}`, {
        value,
        limit,
        evidence,
        details,
      });
    if (open.length > 0)
      return unmeasured(`${text}; not known: ${open.map(({ why }) => why).join(' · ')}`, {
        limit,
        evidence,
      });
    return held(text, { value, limit, evidence, details });
  },
});

interface Verdict {
  readonly is: 'right' | 'wrong' | 'open';
  readonly why: string;
  /** The call that matches the entry, or the calls that do not. */
  readonly calls: readonly number[];
}

const MAX_EXPLAINED = 3;

function judge(entry: Entry, calls: readonly ToolStep[], isPartial: boolean): Verdict {
  const indices = callIndices(calls, (call) => isCallOf(call, entry.tool));
  const reasons: string[] = [];
  let open = isPartial ? 'not all tool calls were captured' : '';
  for (const i of indices) {
    const call = calls[i]!;
    if (call.args === undefined && call.argsRaw === undefined) {
      open = `the arguments of call ${i + 1} (${entry.tool}) were not captured`;
      continue;
    }
    const difference = callDifference(entry, call);
    if (difference === undefined) return { is: 'right', why: '', calls: [i] };
    if ('unknown' in difference) open = difference.unknown;
    else if (reasons.length < MAX_EXPLAINED) reasons.push(`call ${i + 1}: ${difference.text}`);
  }
  if (open !== '') return { is: 'open', why: open, calls: indices };
  if (indices.length === 0) return { is: 'wrong', why: `${entry.tool} was not called`, calls: [] };
  const more =
    indices.length > reasons.length ? `; and ${indices.length - reasons.length} more calls` : '';
  return {
    is: 'wrong',
    why: `no call of ${entry.tool} has the arguments (${reasons.join('; ')}${more})`,
    calls: indices,
  };
}

function callDifference(
  entry: Entry,
  call: ToolStep,
): { readonly text: string } | { readonly unknown: string } | undefined {
  const { args } = call;
  if (typeof args !== 'object' || args === null || Array.isArray(args))
    return { text: 'its arguments are not a map' };
  try {
    for (const [name, asked] of Object.entries(entry.args)) {
      const text = argumentMismatch(asked, args as Record<string, unknown>, name);
      if (text !== undefined) return { text };
    }
    return undefined;
  } catch (error) {
    if (error instanceof RegexTimeout) return { unknown: error.message };
    throw error;
  }
}

function entryIssues(entry: Entry, i: number): Problem[] {
  const issues: Problem[] = [];
  if (entry.tool.trim() === '')
    issues.push({
      severity: 'error',
      code: 'SPEC_EMPTY',
      message: 'tool is blank',
      path: [i, 'tool'],
    });
  else
    issues.push(
      ...nameIssues('tool', [entry.tool]).map((issue) => ({ ...issue, path: [i, 'tool'] })),
    );
  issues.push(...argumentIssues(entry.args, [i, 'args']));
  if (Object.keys(entry.args).length === 0) {
    // It can still fail without a call of the tool, but `expected_tools` is clearer.
    issues.push({
      severity: 'warning',
      code: 'SPEC_CANNOT_FAIL',
      message: `args of ${entry.tool} is empty: any call of the tool satisfies it`,
      hint: `use expected_tools, or name arguments with ${MATCHER_KEYS.filter((key) => key !== 'oneOf').join(', ')}`,
      path: [i, 'args'],
    });
  }
  return issues;
}
