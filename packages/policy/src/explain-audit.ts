import type { ExplainedCall, ExplainReport } from '@agentci/results';
import {
  type AuditDecision,
  type AuditResult,
  type AuditTools,
  GUARD_RULE,
} from '@agentci/results';
import type { PolicyCall } from './call.ts';
import { LiveJudge, type LiveVerdict } from './live-judge.ts';
import type { Policy } from './policy.ts';
import type { AuditSession } from './read-audit.ts';

/**
 * Judges the calls of an audit again and compares every verdict with the live one. A refused call
 * leaves no history, as in the live run.
 */
export function explainAudit(
  { start, decisions, events, end }: AuditSession,
  policy: Policy,
  trace: string,
): ExplainReport {
  const judge = new LiveJudge(policy, { strict: start.strict });
  const calls: ExplainedCall[] = [];
  /** Maps calls of the history to their position. */
  const made: number[] = [];
  const tools = new Map<string, AuditTools['tools'][number]>();
  for (const event of events) {
    if (event.event === 'tools') {
      // A server lists its tools in pages.
      for (const tool of event.tools) tools.set(tool.name, tool);
      judge.learn({ tools: [...tools.values()] });
    } else if (event.event === 'decision') {
      const before = judge.calls;
      calls.push(explainDecision(event, calls.length, { judge, server: start.server }));
      if (judge.calls > before) made.push(calls.length - 1);
    } else {
      const at = made[event.call];
      if (at !== undefined) calls[at] = withResult(calls[at]!, event, judge);
    }
  }
  const count = (verdict: ExplainedCall['verdict']): number =>
    calls.filter((call) => call.verdict === verdict).length;
  const first = calls.findIndex(({ verdict }) => verdict === 'blocked');
  const differs = calls.flatMap(({ call, recorded, verdict }, i) =>
    recorded?.reproduced === false
      ? [{ call, seq: decisions[i]!.seq, recorded: recorded.verdict, now: verdict }]
      : [],
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

const UNTOLD: LiveVerdict = {
  verdict: 'unknown',
  by: [{ rule: '', reason: 'could not tell: the later input was not kept', policy_line: null }],
};

/** The verdict on returning a result belongs to its call. */
function withResult(call: ExplainedCall, line: AuditResult, judge: LiveJudge): ExplainedCall {
  const isWhole = line.redacted !== true && (line.result !== undefined || line.error !== undefined);
  const { result, error, said, forms, latency_ms } = line;
  const beside = {
    said,
    forms,
  };
  const outcome = isWhole ? { result, error: error ?? null, latency_ms, ...beside } : {};
  const { verdict, by } = judge.settle(line.call, outcome);
  const isSame = verdict === line.verdict && (by[0]?.rule ?? null) === line.rule;
  if (line.rule === null && isSame) return call;
  let reproduced: boolean | undefined;
  if (isSame) reproduced = true;
  else if (isWhole) reproduced = false;
  const { reproduced: before, ...recorded } = call.recorded ?? {
    decision: line.decision,
    verdict: line.verdict,
  };
  let both: boolean | undefined;
  if (before === false || reproduced === false) both = false;
  else if (reproduced === undefined) both = undefined;
  else both = before;
  return {
    ...call,
    verdict,
    by: [...by, ...call.by],
    recorded: {
      ...recorded,
      decision: line.decision,
      verdict: line.verdict,
      reproduced: both,
    },
  };
}

function explainDecision(
  line: AuditDecision,
  index: number,
  { judge, server }: { readonly judge: LiveJudge; readonly server: string },
): ExplainedCall {
  const { tool, args, decision, verdict: given, rule, reason, policy_line } = line;
  const shown = {
    call: index + 1,
    tool: tool ?? '',
    arguments: args,
  };
  const recorded = { decision, verdict: given };
  const asGiven = rule === null ? [] : [{ rule, reason: reason ?? '', policy_line }];
  // Calls refused for their form, and continuations of earlier calls, were not judged by the
  // policy.
  const isOwn = tool === null || rule?.startsWith(GUARD_RULE) === true;
  if (isOwn || (line.continues === true && line.sent === undefined))
    return { ...shown, verdict: given, by: asGiven, recorded: { ...recorded, reproduced: true } };
  const isWhole = args !== undefined && line.redacted !== true;
  const call: PolicyCall = {
    name: tool,
    args: isWhole ? args : undefined,
    rawName: server !== '' ? `mcp__${server}__${tool}` : undefined,
    at_ms: line.at_ms,
    agent: line.agent,
  };
  const isContinued = line.continues === true;
  // For a continued call, only the new input is judged, and nothing is added to the history.
  let answer = UNTOLD;
  if (!isContinued) answer = judge.judge(call);
  else if (isWhole) answer = judge.probe({ ...call, sent: line.sent });
  const { verdict, by } = answer;
  if (decision === 'deny' && !isContinued) judge.takeBack();
  const isSame = verdict === given && (by[0]?.rule ?? null) === rule;
  // Without arguments, a rule about them cannot be checked again. That does not count as a
  // different verdict.
  let reproduced: boolean | undefined;
  if (isSame) reproduced = true;
  else if (!isWhole) reproduced = undefined;
  else reproduced = false;
  return {
    ...shown,
    verdict,
    by,
    recorded: { ...recorded, reproduced },
  };
}
