import type { ExplainedCause as Cause, ExplainedCall, ExplainReport } from '@agentci/results';
import { type CallInput, toCalls } from './call.ts';
import { CallTable } from './call-table.ts';
import { placeIn, undecidedCause, violationCause } from './causes.ts';
import { isCertain } from './compile-rules.ts';
import { evaluateArguments } from './evaluate-arguments.ts';
import { evaluateBlocklist } from './evaluate-blocklist.ts';
import { evaluatePrepared } from './evaluate-rules.ts';
import { doubtAt } from './live-judge.ts';
import type { Policy } from './policy.ts';
import type { RunFacts } from './run-facts.ts';

export interface ExplainInput {
  readonly policy: Policy;
  readonly calls: readonly CallInput[];
  /** Name of the trace in the report. */
  readonly trace?: string;
  readonly complete?: boolean;
  readonly strict?: boolean;
  /** How much of the tool calls was captured. Default: all. */
  readonly captured?: 'full' | 'partial' | 'none';
  /** Other facts about the run, for expressions. */
  readonly run?: RunFacts;
}

const NOT_KNOWN = {
  full: undefined,
  partial: 'not all tool calls were captured',
  none: 'tool calls were not captured',
};
const UNKNOWN = 'could not tell: something was not captured';

/**
 * The timeline of a trace: each call allowed, blocked or unknown, with the rule and its line in the
 * policy.
 */
export function explainCalls(input: ExplainInput): ExplainReport {
  const { policy } = input;
  const calls = toCalls(input.calls);
  const complete = input.complete ?? true;
  const blocks = new Map<number, Cause[]>();
  const warns = new Map<number, Cause[]>();
  const unknowns = new Map<number, Cause[]>();
  const add = (map: Map<number, Cause[]>, index: number, cause: Cause): void => {
    const list = map.get(index);
    if (list === undefined) map.set(index, [cause]);
    else list.push(cause);
  };

  addArguments(input, calls, { add, blocks, warns, unknowns });
  const at_end: ExplainReport['at_end'] = [];
  const table = new CallTable(calls, input.run);
  const { rules } = evaluatePrepared(table, policy.rules, complete);
  const isPartial = input.captured === 'partial' || input.captured === 'none';
  for (const [at, record] of rules.entries()) {
    const compiled = policy.rules[at]!;
    const { rule_id: rule, type, outcome, reason, broken_by = [], unknown = [] } = record;
    const place = placeIn(record);
    // As in a test: the missing arguments could change the verdict, so it is unknown.
    if (unknown.length > 0) {
      const doubtful = compiled.isPerCall ? unknown : new Set([...unknown, ...broken_by]);
      for (const index of doubtful)
        add(unknowns, index, {
          rule,
          reason: doubtAt(compiled, table, index) ?? UNKNOWN,
          ...place,
        });
      if (!compiled.isPerCall) continue;
    }
    if (outcome !== 'violated') continue;
    // Missing calls may have met the rule, unless it forbids a recorded call.
    if (isPartial && complete && !isCertain(type)) {
      const cause = { rule, reason: 'could not tell: not all tool calls were captured', ...place };
      for (const index of broken_by) add(unknowns, index, cause);
      continue;
    }
    const cause = { rule, reason, ...place };
    for (const index of broken_by) add(blocks, index, cause);
    if (broken_by.length === 0) at_end.push(cause);
  }

  const timeline = calls.map((call, i) => explainedCall(call, i, { blocks, unknowns, warns }));
  const first = timeline.findIndex(({ verdict }) => verdict === 'blocked');
  return {
    schema: 'agentci.policy-explain/1',
    policy: policy.file,
    trace: input.trace ?? '',
    complete,
    calls: timeline,
    ...countVerdicts(timeline),
    not_known: NOT_KNOWN[input.captured ?? 'full'],
    first_block_index: first < 0 ? null : first,
    at_end,
    rules,
  };
}

type Causes = Map<number, Cause[]>;

/** Adds the findings on arguments and the blocklist. */
function addArguments(
  { policy, strict = false }: ExplainInput,
  calls: ReturnType<typeof toCalls>,
  {
    add,
    blocks,
    warns,
    unknowns,
  }: {
    readonly add: (map: Causes, index: number, cause: Cause) => void;
    readonly blocks: Causes;
    readonly warns: Causes;
    readonly unknowns: Causes;
  },
): void {
  const judged = evaluateArguments({ calls, policy, strict });
  for (const violation of judged.violations)
    add(violation.severity === 'warn' ? warns : blocks, violation.call!, violationCause(violation));
  for (const undecided of judged.undecided ?? [])
    add(unknowns, undecided.call, undecidedCause(undecided));
  if (policy.blocklist.length > 0) {
    const found = evaluateBlocklist({ calls, blocklist: policy.blocklist }).violations;
    for (const violation of found) add(blocks, violation.call!, violationCause(violation));
  }
}

function explainedCall(
  call: ReturnType<typeof toCalls>[number],
  i: number,
  { blocks, unknowns, warns }: Readonly<Record<'blocks' | 'unknowns' | 'warns', Causes>>,
): ExplainedCall {
  const by = [blocks, unknowns, warns].flatMap((map) => map.get(i) ?? []);
  let verdict: 'unknown' | 'blocked' | 'warned' | 'allowed';
  if (blocks.has(i)) verdict = 'blocked';
  else if (unknowns.has(i)) verdict = 'unknown';
  else if (warns.has(i)) verdict = 'warned';
  else verdict = 'allowed';
  const given = call.args ?? call.argsRaw;
  return {
    call: i + 1,
    tool: call.name,
    arguments: given,
    verdict,
    by,
  };
}

function countVerdicts(timeline: readonly ExplainedCall[]) {
  const count = (verdict: ExplainedCall['verdict']): number =>
    timeline.filter((call) => call.verdict === verdict).length;
  return {
    allowed: count('allowed'),
    blocked: count('blocked'),
    warned: count('warned'),
    unknown: count('unknown'),
  };
}
