import { shortRecords } from '@agentci/policy';
import type {
  CheckResult,
  CheckStatus,
  Evidence,
  LayerResult,
  PolicyResult,
  PolicyViolation,
  QueryResult,
  RuleRecord,
} from '@agentci/results';
import type { PolicyTest, Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { toolCalls } from '@agentci/trace';
import { blankResult } from './combine-runs.ts';
import type { ModuleOutcome } from './module-metric.ts';
import { summaryOf, violationText } from './policy-checks.ts';

/** Enough to show. The counts continue. */
const MAX_KEPT = 100;
const MAX_EVIDENCE = 20;
const MAX_REASONS = 5;

type BuiltIn = Exclude<PolicyTest['metric'], 'module'>;

/** Adds up the results of one test over all traces. */
export class TestTally {
  readonly #query: Query;
  readonly #metric: BuiltIn | 'module';
  readonly #violations: PolicyViolation[] = [];
  readonly #logged: PolicyViolation[] = [];
  readonly #evidence: Evidence[] = [];
  readonly #reasons: string[] = [];
  readonly #rules = new Map<string, RuleRecord>();
  readonly #tools = new Set<string>();
  readonly #unknown = new Map<string, number>();
  readonly #counts: Record<CheckStatus, number> = { pass: 0, warn: 0, fail: 0, error: 0, skip: 0 };
  #found = 0;
  #traces = 0;
  #calls = 0;
  #checked = 0;

  constructor(query: Query) {
    this.#query = query;
    this.#metric = query.test!.metric;
  }

  add(trace: Trace, result: PolicyResult, verdict: { status: CheckStatus; why?: string }): void {
    this.#count(trace, verdict.status);
    this.#found += result.violations.length;
    if (verdict.why !== undefined) this.#reason(`${trace.id}: ${verdict.why}`);
    const calls = result.violations.length === 0 ? [] : toolCalls(trace);
    for (const violation of result.violations) {
      if (this.#violations.length >= MAX_KEPT) break;
      this.#violations.push({ ...violation, trace: trace.id });
      if (this.#evidence.length >= MAX_EVIDENCE) continue;
      const step = violation.call === undefined ? undefined : calls[violation.call];
      this.#evidence.push({
        step: step?.seq,
        call: violation.call === undefined ? undefined : violation.call + 1,
        text: `${trace.id}: ${violationText(violation)}`,
      });
    }
    switch (result.metric) {
      case 'args_valid':
        this.#checked += result.checked_calls;
        if (this.#logged.length < MAX_KEPT) this.#logged.push(...result.logged.slice(0, MAX_KEPT));
        for (const [name, count] of Object.entries(result.unknown_tools))
          if (this.#unknown.size < MAX_KEPT || this.#unknown.has(name))
            this.#unknown.set(name, (this.#unknown.get(name) ?? 0) + count);
        break;
      case 'sequence_valid':
        for (const record of result.rules) this.#rule({ ...record, trace: trace.id });
        break;
      case 'tool_blocklist':
        for (const tool of result.tools) if (this.#tools.size < MAX_KEPT) this.#tools.add(tool);
        break;
    }
  }

  addModule(trace: Trace, outcome: ModuleOutcome): void {
    this.#count(trace, outcome.status);
    this.#found += outcome.violations.length;
    if (outcome.why !== undefined) this.#reason(`${trace.id}: ${outcome.why}`);
    for (const violation of outcome.violations) {
      if (this.#violations.length >= MAX_KEPT) break;
      this.#violations.push({ ...violation, trace: trace.id });
      if (this.#evidence.length < MAX_EVIDENCE)
        this.#evidence.push({
          call: violation.call === undefined ? undefined : violation.call + 1,
          text: `${trace.id}: ${violationText(violation)}`,
        });
    }
  }

  unreadable(why: string): void {
    this.#counts.error++;
    this.#reason(why);
  }

  result(): QueryResult {
    const status = this.#status();
    const check = this.#check(status);
    const path: LayerResult = {
      status,
      messages: [check.message],
      details: {
        policy: [
          this.#metric === 'module' ? this.#moduleDetails(status) : this.#details(this.#metric),
        ],
      },
      checks: [check],
    };
    return { ...blankResult(this.#query), status, path };
  }

  #count(trace: Trace, status: CheckStatus): void {
    this.#traces++;
    this.#counts[status]++;
    if (trace.captured.toolCalls !== 'none')
      for (const step of trace.steps) if (step.kind === 'tool') this.#calls++;
  }

  #reason(why: string): void {
    if (this.#reasons.length < MAX_REASONS) this.#reasons.push(why);
  }

  /** The worst record of a rule represents all traces, the first one among equals. */
  #rule(record: RuleRecord): void {
    const rank = { violated: 2, held: 1, not_exercised: 0 };
    const known = this.#rules.get(record.rule_id);
    if (known === undefined || rank[record.outcome] > rank[known.outcome])
      this.#rules.set(record.rule_id, record);
  }

  #status(): CheckStatus {
    const { fail, error, warn, pass } = this.#counts;
    if (fail > 0) return 'fail';
    if (error > 0 || this.#traces === 0) return 'error';
    if (warn > 0) return 'warn';
    return pass > 0 ? 'pass' : 'skip';
  }

  #check(status: CheckStatus): CheckResult {
    const [first] = this.#violations;
    const file = first?.policy_file ?? this.#file();
    const line = first?.policy_line ?? null;
    const location =
      line === null || file === undefined
        ? this.#query.locations?.policy
        : { file, line, column: first?.policy_column ?? 1 };
    const test = this.#query.test!;
    return {
      id: `policy.${test.metric === 'module' ? test.name : test.metric}`,
      status,
      message: this.#message(status),
      value: this.#found,
      limit: 0,
      skip_reason: status === 'skip' ? ('not_exercised' as const) : undefined,
      location,
      evidence: this.#evidence,
    };
  }

  #file(): string | undefined {
    const { test } = this.#query;
    if (test === undefined || test.metric === 'module') return undefined;
    return test.metric === 'args_valid' ? test.policy.file : test.file;
  }

  #message(status: CheckStatus): string {
    if (this.#traces === 0 && this.#reasons.length === 0)
      return 'no traces were given, so nothing was checked';
    const where = `in ${this.#traces} ${this.#traces === 1 ? 'trace' : 'traces'}`;
    const text =
      this.#metric === 'module'
        ? `${this.#found} ${this.#found === 1 ? 'violation' : 'violations'} ${where}${this.#evidence.length === 0 ? '' : `: ${this.#evidence[0]!.text}`}`
        : `${summaryOf(this.#details(this.#metric), this.#calls)}, ${where}`;
    return status === 'error' ? `${text}; not known: ${this.#reasons.join('; ')}` : text;
  }

  #moduleDetails(status: CheckStatus) {
    const { test } = this.#query;
    return {
      metric: test?.metric === 'module' ? test.name : '',
      status: status === 'skip' ? 'pass' : status,
      exercised: status === 'skip' ? 'not_exercised' : 'exercised',
      violations: this.#violations,
      traces: this.#traces,
    };
  }

  #details(metric: BuiltIn): PolicyResult {
    const status = this.#status();
    const base = {
      status: status === 'skip' ? ('pass' as const) : status,
      exercised: status === 'skip' ? ('not_exercised' as const) : ('exercised' as const),
      violations: this.#violations,
      traces: this.#traces,
    };
    switch (metric) {
      case 'args_valid':
        return {
          metric,
          ...base,
          logged: this.#logged.slice(0, MAX_KEPT),
          checked_calls: this.#checked,
          unknown_tools: Object.fromEntries(this.#unknown),
        };
      case 'sequence_valid':
        return { metric, ...base, rules: shortRecords([...this.#rules.values()]) };
      case 'tool_blocklist':
        return { metric, ...base, calls_found: this.#found, tools: [...this.#tools] };
    }
  }
}
