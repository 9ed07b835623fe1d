import { compileGlob } from '@agentci/lib/regex';
import type { CoverageReport } from '@agentci/results';
import { type CallInput, toCalls } from './call.ts';
import { CallTable } from './call-table.ts';
import { evaluatePrepared } from './evaluate-rules.ts';
import type { Policy } from './policy.ts';
import type { RunFacts } from './run-facts.ts';

/**
 * Measures how much of a policy the traces exercise. Memory does not grow with the number of
 * traces.
 */
export class PolicyCoverage {
  readonly #policy: Policy;
  readonly #called = new Set<string>();
  readonly #exercised = new Set<string>();
  #traces = 0;
  #examples = 0;
  #calls = 0;

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /** Counts the policy's examples. */
  addExamples(): void {
    for (const { calls, run } of this.#policy.examples) this.add(calls, { run });
    this.#examples += this.#policy.examples.length;
    this.#traces -= this.#policy.examples.length;
  }

  add(
    inputs: readonly CallInput[],
    { complete = true, run = {} }: { readonly complete?: boolean; readonly run?: RunFacts } = {},
  ): void {
    const calls = toCalls(inputs);
    this.#traces++;
    this.#calls += calls.length;
    for (const { name } of calls) this.#called.add(name);
    // A rule that held without any relevant call proves nothing.
    for (const { rule_id, outcome, spanned } of evaluatePrepared(
      new CallTable(calls, run),
      this.#policy.rules,
      complete,
    ).rules) {
      if (outcome !== 'not_exercised' && spanned.length > 0) this.#exercised.add(rule_id);
    }
  }

  report(threshold?: number): CoverageReport {
    const policy = this.#policy;
    const entries = namedTools(policy);
    const seen = entries.filter((name) => this.#wasCalled(name));
    const ids = policy.rules.map(({ id }) => id);
    const exercised = ids.filter((id) => this.#exercised.has(id));
    const tool_pct = percent(seen.length, entries.length);
    const rule_pct = percent(exercised.length, ids.length);
    const parts = [tool_pct, rule_pct].filter((part) => part !== null);
    const overall_pct =
      parts.length === 0 ? 0 : round(parts.reduce((sum, part) => sum + part, 0) / parts.length);
    const denied = [...policy.deny, ...policy.blocklist].map(({ text }) => text);
    return {
      schema: 'agentci.policy-coverage/1',
      policy: policy.file,
      traces: this.#traces,
      examples: this.#examples,
      calls: this.#calls,
      tools: { seen, not_seen: entries.filter((name) => !seen.includes(name)) },
      rules: { exercised, not_exercised: ids.filter((id) => !exercised.includes(id)) },
      tool_pct,
      rule_pct,
      overall_pct,
      threshold: threshold ?? null,
      meets: threshold === undefined || overall_pct >= threshold,
      high_risk_gaps: [...new Set(denied)].filter((name) => !this.#wasCalled(name)),
      unexpected_tools: [...this.#called]
        .filter((name) => !isExpected(policy, entries, name))
        .sort(),
    };
  }

  #wasCalled(pattern: string): boolean {
    if (this.#called.has(pattern)) return true;
    const matches = compileGlob(pattern);
    return [...this.#called].some(matches);
  }
}

/** Every tool or glob named in the policy, except `*`. */
function namedTools(policy: Policy): string[] {
  const lists = [...(policy.allow ?? []), ...policy.deny, ...policy.blocklist].map(
    ({ text }) => text,
  );
  return [...new Set([...policy.tools.keys(), ...lists])].filter((name) => name !== '*');
}

function isExpected(policy: Policy, entries: readonly string[], name: string): boolean {
  return (
    entries.some((entry) => entry === name || compileGlob(entry)(name)) ||
    policy.rules.some(({ selectors }) =>
      selectors.some(
        (selector) =>
          selector.label !== '*' && !selector.label.startsWith('* ') && selector.matchesName(name),
      ),
    )
  );
}

const round = (value: number): number => Math.round(value * 100) / 100;
const percent = (part: number, whole: number): number | null =>
  whole === 0 ? null : round((100 * part) / whole);
