import { type AuditDecision, GUARD_RULE } from '../results/guard-audit.ts';
import type { ExplainedCall, ExplainReport } from '../results/policy-report.ts';
import type { PolicyCall } from './call.ts';
import { LiveJudge } from './live-judge.ts';
import type { Policy } from './policy.ts';
import type { AuditSession } from './read-audit.ts';

/**
 * Judges the calls of an audit again and holds every verdict against the one that was given live. A call that was refused
 * left no history, here as there.
 */
export function explainAudit({ start, decisions, end }: AuditSession, policy: Policy, trace: string): ExplainReport {
  const judge = new LiveJudge(policy, { strict: start.strict });
  const calls = decisions.map((decision, i) => explainDecision(decision, i, { judge, server: start.server }));
  const count = (verdict: ExplainedCall['verdict']): number => calls.filter((call) => call.verdict === verdict).length;
  const first = calls.findIndex(({ verdict }) => verdict === 'blocked');
  const differs = calls.flatMap(({ call, recorded, verdict }, i) =>
    recorded?.reproduced === false ? [{ call, seq: decisions[i]!.seq, recorded: recorded.verdict, now: verdict }] : [],
  );
  return {
    schema: 'agentci.policy-explain/1',
    policy: policy.file,
    trace,
    complete: end !== undefined,
    calls,
    allowed: count('allowed'),
    blocked: count('blocked'),
    warned: count('warned'),
    unknown: count('unknown'),
    first_block_index: first < 0 ? null : first,
    at_end: judge.atEnd(),
    rules: [],
    audit: {
      mode: start.mode,
      decisions: calls.length,
      reproduced: calls.filter(({ recorded }) => recorded?.reproduced === true).length,
      not_told: calls.filter(({ recorded }) => recorded?.reproduced === undefined).length,
      differs,
    },
  };
}

function explainDecision(
  line: AuditDecision,
  index: number,
  { judge, server }: { readonly judge: LiveJudge; readonly server: string },
): ExplainedCall {
  const { tool, args, decision, verdict: given, rule, reason, policy_line } = line;
  const shown = { call: index + 1, tool: tool ?? '', ...(args === undefined ? {} : { arguments: args }) };
  const recorded = { decision, verdict: given };
  const asGiven = rule === null ? [] : [{ rule, reason: reason ?? '', policy_line }];
  // What the guard refused for its form, and what continues an earlier call, was not put to the policy.
  if (tool === null || rule?.startsWith(GUARD_RULE) === true || line.continues === true)
    return { ...shown, verdict: given, by: asGiven, recorded: { ...recorded, reproduced: true } };
  const isWhole = args !== undefined && line.redacted !== true;
  const call: PolicyCall = {
    name: tool,
    ...(isWhole ? { args } : {}),
    ...(server === '' ? {} : { rawName: `mcp__${server}__${tool}` }),
  };
  const { verdict, by } = judge.judge(call);
  if (decision === 'deny') judge.takeBack();
  const isSame = verdict === given && (by[0]?.rule ?? null) === rule;
  // Without the arguments a rule about them cannot be asked again; that is not another verdict.
  const reproduced = isSame ? true : !isWhole ? undefined : false;
  return { ...shown, verdict, by, recorded: { ...recorded, ...(reproduced === undefined ? {} : { reproduced }) } };
}
