import { andMore } from '@agentci/lib/text';
import type { Policy } from '@agentci/policy';
import {
  CallTable,
  evaluateArguments,
  evaluateBlocklist,
  evaluatePrepared,
  isCertain,
  parsePolicy,
  runFactsOf,
  shortResult,
  timed,
} from '@agentci/policy';
import type {
  CheckResult,
  CheckStatus,
  Evidence,
  PolicyResult,
  PolicyViolation,
  SkipReason,
} from '@agentci/results';
import { withMore } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { ToolStep, Trace } from '@agentci/trace';
import { toolCalls } from '@agentci/trace';

export interface PolicyChecks {
  readonly checks: readonly CheckResult[];
  readonly details: Readonly<Record<string, unknown>>;
}

const NONE: PolicyChecks = { checks: [], details: {} };
const MAX_EVIDENCE = 20;
const MAX_NAMED = 3;

/**
 * Checks the tool calls of a run against the query's policy. Returns checks of the path layer, one
 * per metric of the policy.
 */
export function policyChecks(query: Query, trace: Trace, given?: readonly Policy[]): PolicyChecks {
  const policies = given ?? query.policies ?? inlinePolicies(query);
  if (typeof policies === 'string') return notRead(policies, query);
  if (policies.length === 0) return NONE;
  const calls = toolCalls(trace);
  const results: PolicyResult[] = [];
  const checks: CheckResult[] = [];
  for (const policy of policies) {
    for (const result of evaluatePolicy(policy, trace, calls, query.query)) {
      results.push(shortResult(result));
      checks.push(checkOf(result, { policy, query, trace, calls }));
    }
  }
  return { checks, details: { policy: results } };
}

/**
 * A query built in code may contain the policy itself. A path should have been read by the loader.
 * A text is the reason for its absence.
 */
function inlinePolicies({ policy: written }: Query): readonly Policy[] | string {
  if (written === undefined) return [];
  if (typeof written === 'string') return `the policy "${written}" was not read`;
  const { policy, diagnostics } = parsePolicy(JSON.stringify(written, null, 2), { file: 'policy' });
  return policy === undefined
    ? `the policy cannot be used: ${diagnostics[0]?.message ?? ''}`
    : [policy];
}

function notRead(message: string, { locations }: Query): PolicyChecks {
  const location = locations?.policy;
  const check = {
    id: 'policy',
    status: 'error' as const,
    message,
    evidence: [],
    location,
  };
  return { checks: [check], details: {} };
}

function* evaluatePolicy(
  policy: Policy,
  trace: Trace,
  calls: readonly ToolStep[],
  query: string,
): Generator<PolicyResult> {
  if (policy.hasCallRules) yield evaluateArguments({ calls, policy });
  const { rules } = policy;
  if (rules.length > 0)
    yield timed(undefined, () =>
      evaluatePrepared(
        new CallTable(calls, runFactsOf(trace, query)),
        rules,
        trace.status !== 'incomplete',
      ),
    );
  if (policy.blocklist.length > 0) yield evaluateBlocklist({ calls, blocklist: policy.blocklist });
}

/** The verdict for a result on a recording that may be incomplete. */
export function verdictOn(
  result: PolicyResult,
  trace: Trace,
): { status: CheckStatus; reason?: SkipReason; why?: string } {
  const captured = trace.captured.toolCalls;
  if (captured === 'none') return { status: 'error', why: 'tool calls were not captured' };
  const isCutOff = trace.status === 'incomplete';
  const isPartial = captured === 'partial' || isCutOff;
  if (result.status === 'fail') {
    if (!isPartial || isCutOff || result.metric !== 'sequence_valid') return { status: 'fail' };
    const certain = result.rules.some(
      ({ outcome, type }) => outcome === 'violated' && isCertain(type),
    );
    return certain
      ? { status: 'fail' }
      : { status: 'error', why: 'not all tool calls were captured' };
  }
  if (result.status === 'error') return { status: 'error', why: result.reason ?? 'unknown' };
  // Rules have a separate result for a run that was cut off.
  if (isPartial && !(isCutOff && result.metric === 'sequence_valid'))
    return { status: 'error', why: 'not all tool calls were captured' };
  if (result.status === 'warn') return { status: 'warn' };
  return result.exercised === 'not_exercised'
    ? { status: 'skip', reason: 'not_exercised' }
    : { status: 'pass' };
}

function checkOf(
  result: PolicyResult,
  {
    policy,
    query,
    trace,
    calls,
  }: { policy: Policy; query: Query; trace: Trace; calls: readonly ToolStep[] },
): CheckResult {
  const { status, reason, why } = verdictOn(result, trace);
  const [first] = result.violations;
  const line = first?.policy_line ?? null;
  const location =
    line === null
      ? query.locations?.policy
      : { file: first?.policy_file ?? policy.file, line, column: first?.policy_column ?? 1 };
  const text = summaryOf(result, calls.length);
  return {
    id: `policy.${result.metric}`,
    status,
    message: why === undefined ? text : `${text}; not known: ${why}`,
    value: result.violations.length,
    limit: 0,
    wanted: status === 'pass' || status === 'skip' ? undefined : wantedOf(result, policy),
    skip_reason: reason,
    location,
    evidence: [
      ...told(result.violations, (violation) => evidenceOf(violation, policy, calls)),
      ...told(result.metric === 'args_valid' ? result.logged : [], (violation) => {
        const evidence = evidenceOf(violation, policy, calls);
        return { ...evidence, text: `logged: ${evidence.text}` };
      }),
    ],
  };
}

const told = (
  violations: readonly PolicyViolation[],
  toEvidence: (violation: PolicyViolation) => Evidence,
): Evidence[] =>
  withMore(
    violations.slice(0, MAX_EVIDENCE).map(toEvidence),
    Math.max(0, violations.length - MAX_EVIDENCE),
  );

/** The requirement of the policy, in words. */
function wantedOf(result: PolicyResult, { file, blocklist }: Policy): string {
  if (result.metric === 'sequence_valid') {
    const broken = result.rules.filter(({ outcome }) => outcome === 'violated');
    return `The rules of ${file}: ${andMore(
      (broken.length === 0 ? result.rules : broken).map(
        ({ rule_id, expected }) => `${rule_id} (${expected})`,
      ),
      MAX_NAMED,
    )}`;
  }
  if (result.metric === 'args_valid') {
    const asked = [
      ...new Set(
        result.violations.map(
          ({ tool, argument, constraint }) =>
            `${tool}${argument === null ? '' : `.${argument}`} ${constraint}`,
        ),
      ),
    ];
    return asked.length === 0
      ? `Arguments as ${file} allows them`
      : `Arguments as ${file} allows them: ${andMore(asked, MAX_NAMED)}`;
  }
  return `No calls of tools that ${file} blocks: ${andMore(blocklist.map(String), MAX_NAMED)}`;
}

function evidenceOf(
  violation: PolicyViolation,
  policy: Policy,
  calls: readonly ToolStep[],
): Evidence {
  const { call, policy_line, policy_file } = violation;
  const where = policy_line === null ? '' : ` (${policy_file ?? policy.file}:${policy_line})`;
  const step = call === undefined ? undefined : calls[call];
  return {
    step: step?.seq,
    call: call === undefined ? undefined : call + 1,
    text: `${violationText(violation)}${where}`,
  };
}

/** One violation on one line. */
export function violationText({
  tool,
  argument,
  value,
  message,
  rule,
  call,
  constraint,
}: PolicyViolation): string {
  if (rule !== undefined) return `${rule}: ${message}`;
  const at = call === undefined ? '' : ` in call ${call + 1}`;
  if (argument === null) return `${tool}${at}: ${message} (${constraint})`;
  const shown = constraint.startsWith('required') ? '' : ` = ${short(value)}`;
  return `${tool}.${argument}${shown}${at}: ${message}`;
}

const short = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
};

/** The finding in one sentence with its numbers. */
export function summaryOf(result: PolicyResult, calls: number): string {
  const seen = count(calls, 'call');
  const named = result.violations.slice(0, MAX_NAMED).map(violationText).join('; ');
  const more =
    result.violations.length > MAX_NAMED
      ? `; and ${result.violations.length - MAX_NAMED} more`
      : '';
  const found = result.violations.length === 0 ? '' : `: ${named}${more}`;
  switch (result.metric) {
    case 'args_valid': {
      const unknown = Object.keys(result.unknown_tools);
      const note =
        unknown.length === 0 ? '' : `; not in the policy: ${unknown.slice(0, 5).join(', ')}`;
      return `${count(result.violations.length, 'violation')}, ${result.checked_calls} of ${seen} checked${found}${note}`;
    }
    case 'sequence_valid': {
      const rules = (wanted: string): number =>
        result.rules.filter(({ outcome }) => outcome === wanted).length;
      return `${rules('held')} of ${count(result.rules.length, 'rule')} held, ${rules('not_exercised')} not exercised, ${rules('violated')} violated in ${seen}${found}`;
    }
    case 'tool_blocklist':
      return `${count(result.calls_found, 'blocked call')} in ${seen}${found}`;
  }
}

const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;
