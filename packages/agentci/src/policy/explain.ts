import type { ExplainedCall, ExplainReport } from '../results/policy-report.ts';
import { type CallInput, toCalls } from './call.ts';
import { evaluateArguments } from './evaluate-arguments.ts';
import { evaluateBlocklist } from './evaluate-blocklist.ts';
import { judgeRules } from './evaluate-rules.ts';
import type { Policy } from './policy.ts';
import { CallTable } from './selectors.ts';

export interface ExplainInput {
  readonly policy: Policy;
  readonly calls: readonly CallInput[];
  /** The name of the trace in the report. */
  readonly trace?: string;
  readonly complete?: boolean;
  readonly strict?: boolean;
}

type Cause = ExplainedCall['by'][number];

/** The timeline of a trace: each call allowed or blocked, by which rule, on which line of the policy. */
export function explainCalls(input: ExplainInput): ExplainReport {
  const { policy } = input;
  const calls = toCalls(input.calls);
  const complete = input.complete ?? true;
  const blocks = new Map<number, Cause[]>();
  const warns = new Map<number, Cause[]>();
  const add = (map: Map<number, Cause[]>, index: number, cause: Cause): void => {
    const list = map.get(index);
    if (list === undefined) map.set(index, [cause]);
    else list.push(cause);
  };

  const judged = evaluateArguments({ calls, policy, strict: input.strict ?? false });
  for (const violation of judged.violations) {
    const { policy_file, policy_line, argument, code, message, constraint, severity } = violation;
    const rule = code ?? (argument === null ? constraint : `argument ${argument}`);
    const cause = { rule, reason: message, policy_line, ...(policy_file === undefined ? {} : { policy_file }) };
    add(severity === 'warn' ? warns : blocks, violation.call!, cause);
  }
  if (policy.blocklist.length > 0) {
    const found = evaluateBlocklist({ calls, blocklist: policy.blocklist }).violations;
    for (const { call, constraint, message, policy_line } of found)
      add(blocks, call!, { rule: constraint, reason: message, policy_line });
  }
  const at_end: ExplainReport['at_end'] = [];
  const { rules } = judgeRules(new CallTable(calls), policy.rules, complete);
  for (const { rule_id, outcome, reason, policy_line, broken_by = [] } of rules) {
    if (outcome !== 'violated') continue;
    const cause = { rule: rule_id, reason, policy_line };
    for (const index of broken_by) add(blocks, index, cause);
    if (broken_by.length === 0) at_end.push(cause);
  }

  const timeline = calls.map((call, i): ExplainedCall => {
    const by = [...(blocks.get(i) ?? []), ...(warns.get(i) ?? [])];
    const verdict = blocks.has(i) ? 'blocked' : warns.has(i) ? 'warned' : 'allowed';
    const given = call.args ?? call.argsRaw;
    return { call: i + 1, tool: call.name, ...(given === undefined ? {} : { arguments: given }), verdict, by };
  });
  const count = (verdict: ExplainedCall['verdict']): number => timeline.filter((c) => c.verdict === verdict).length;
  const first = timeline.findIndex(({ verdict }) => verdict === 'blocked');
  return {
    schema: 'agentci.policy-explain/1',
    policy: policy.file,
    trace: input.trace ?? '',
    complete,
    calls: timeline,
    allowed: count('allowed'),
    blocked: count('blocked'),
    warned: count('warned'),
    first_block_index: first < 0 ? null : first,
    at_end,
    rules,
  };
}
