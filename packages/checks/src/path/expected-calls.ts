import { present } from '@agentci/lib/data';
import type { Problem } from '@agentci/lib/problems';
import { type Infer, v } from '@agentci/lib/values';
import { capturedCalls } from '@agentci/trace';
import { alignCalls, CALL_MODES, type CallMode } from '../align-calls.ts';
import { argumentIssues } from '../argument-issues.ts';
import { argumentMatcherSchema, isMatcher } from '../argument-matcher.ts';
import { isBelow } from '../bounds.ts';
import { ARGS_MODES, type Match, matchCall } from '../call-match.ts';
import { callEvidence, NOT_CAPTURED } from '../calls.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { emptyListIssue, patternNameIssues, zeroBoundIssues } from '../issues.ts';
import { callText } from '../wants.ts';
import { listed, number, rounded, shortJson } from '../words.ts';

const MAX_EXPECTED = 500;
/** Maximum cells of the comparison table. */
const MAX_CELLS = 20_000_000;

const callSchema = v.strictObject({
  tool: v.string().describe('Name of the tool; * matches any run of characters'),
  args: v.record(v.string(), v.when(isMatcher, argumentMatcherSchema)).optional(),
  args_match: v
    .enum(ARGS_MODES)
    .optional()
    .describe('Like `args` next to `mode`, for this call only'),
});
const schema = v.strictObject({
  mode: v.enum(CALL_MODES).optional().describe('default: in_order'),
  args: v.enum(ARGS_MODES).optional().describe('How arguments are compared (default: subset)'),
  calls: v.array(callSchema).max(MAX_EXPECTED),
  min: v.number().min(0).max(1).optional().describe('The lowest score that is kept (default: 1)'),
});
type Params = Infer<typeof schema>;

/** The rule of each mode in words, because other tools use the same names for other rules. */
const RULES: Readonly<Record<CallMode, string>> = {
  exact: 'these calls in this order and no others',
  unordered: 'these calls in any order and no others',
  in_order: 'these calls in this order, others allowed',
  any_order: 'these calls in any order, others allowed',
  only: 'no calls but these',
};

const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

export const check = defineCheck({
  layer: 'path',
  key: 'expected_calls',
  severity: 'warn',
  order: 112,
  summary: 'The run must make these calls, with these arguments, as `mode` requires.',
  wants: ({ mode = 'in_order', calls: list, min }) =>
    `${capitalized(RULES[mode])}: ${listed(list.map(callText))}${min === undefined || min === 1 ? '' : `, with a score of at least ${number(min)}`}`,
  failure: {
    why: 'calls are missing, or there are others',
    help: 'the message lists both. Try `mode: any_order` or a lower `min` if the order may differ',
  },
  example: {
    mode: 'in_order',
    args: 'subset',
    calls: [
      { tool: 'lookup_order', args: { id: '42' } },
      {
        tool: 'refund*',
        args: { amount: { tolerance: { value: 20, abs: 0.5 } } },
        args_match: 'exact',
      },
    ],
    min: 1,
  },
  schema,
  inspect: paramIssues,
  evaluate: (params, { trace }) => {
    const { mode = 'in_order', args = 'subset', calls: expected, min = 1 } = params;
    const recorded = capturedCalls(trace);
    const what = `expected calls (${mode}: ${RULES[mode]})`;
    if (recorded === undefined)
      return unmeasured(`${what}: not known, ${NOT_CAPTURED}`, { limit: min });
    const { calls, isPartial } = recorded;
    if (expected.length * calls.length > MAX_CELLS)
      return unmeasured(`${what}: not known, ${calls.length} calls are too many to compare`, {
        limit: min,
      });
    const table = expected.map((one) =>
      calls.map((call): Match => matchCall(one, call, one.args_match ?? args)),
    );
    const align = (isFit: (match: Match) => boolean) =>
      alignCalls(mode, expected.length, calls.length, (i, j) => isFit(table[i]![j]!));
    const least = align((match) => match === 'yes');
    const hasMaybe = table.some((row) => row.includes('maybe'));
    const most = hasMaybe ? align((match) => match !== 'no') : least;
    const missing =
      mode === 'only'
        ? []
        : least.pairs.flatMap((j, i) => (j === undefined ? [shown(expected[i]!)] : []));
    const extra = least.extra.map((j) => calls[j]!.name);
    const notes = present([
      missing.length > 0 ? `missing: ${listed(missing)}` : undefined,
      extra.length > 0 ? `not expected: ${listed(extra)}` : undefined,
    ]);
    const text = `${what}: score ${number(rounded(least.score))}, minimum ${number(min)}${notes.map((note) => `; ${note}`).join('')}`;
    const evidence = callEvidence(
      calls,
      least.extra.length > 0 ? least.extra : least.pairs.filter((j) => j !== undefined),
    );
    const rest = {
      value: least.score,
      limit: min,
      evidence,
      details: { expected_calls: { mode, score: rounded(least.score), missing, extra } },
    };
    const isKept = !isBelow(least.score, min);
    const isMissed = isBelow(most.score, min);
    if (
      isPartial &&
      !isCertain(mode, { isKept, isMissed, min, tooMany: calls.length > expected.length })
    )
      return unmeasured(`${text}; not known, not all tool calls were captured`, { limit: min });
    if (isKept) return held(text, rest);
    if (isMissed) return violated(text, rest);
    return unmeasured(`${text}; not known, the arguments of some calls were not captured`, {
      limit: min,
      evidence,
    });
  },
});

/** Whether missing calls could no longer change the verdict. */
function isCertain(
  mode: CallMode,
  {
    isKept,
    isMissed,
    min,
    tooMany,
  }: { isKept: boolean; isMissed: boolean; min: number; tooMany: boolean },
): boolean {
  if (mode === 'in_order' || mode === 'any_order') return isKept;
  if (mode === 'only') return isMissed && min === 1;
  return isMissed && min === 1 && tooMany;
}

const shown = ({ tool, args }: Params['calls'][number]): string =>
  args === undefined ? tool : `${tool}(${shortJson(args)})`;

function paramIssues({ mode = 'in_order', calls, min, args: how = 'subset' }: Params): Problem[] {
  const issues: Problem[] = [];
  if (calls.length === 0 && (mode === 'in_order' || mode === 'any_order'))
    issues.push({
      ...emptyListIssue('calls', 'write mode: exact to say that no tool may be called'),
      path: ['calls'],
    });
  if (min !== undefined)
    issues.push(...zeroBoundIssues('min', min).map((issue) => ({ ...issue, path: ['min'] })));
  for (const [i, call] of calls.entries()) {
    issues.push(
      ...patternNameIssues('tool', [call.tool]).map((issue) => ({
        ...issue,
        path: ['calls', i, 'tool'],
      })),
    );
    if (call.args !== undefined) issues.push(...argumentIssues(call.args, ['calls', i, 'args']));
    if (call.args !== undefined && (call.args_match ?? how) === 'ignore')
      issues.push({
        severity: 'warning',
        code: 'SPEC_CANNOT_FAIL',
        message: `the arguments of ${call.tool} are not compared: the mode is ignore`,
        path: ['calls', i, 'args'],
      });
    if (call.args === undefined && call.args_match !== undefined)
      issues.push({
        code: 'SPEC_NEEDS_KEY',
        message: 'args_match needs args',
        hint: 'add args next to it',
        path: ['calls', i, 'args_match'],
      });
  }
  return issues;
}
