import { UserError } from '@agentci/lib/problems';
import type { PolicyStatus, PolicyViolation, RuleRecord, RulesResult } from '@agentci/results';
import { type CallInput, toCalls, unnamedReason } from './call.ts';
import { CallTable } from './call-table.ts';
import { type CompiledRule, compileRules } from './compile-rules.ts';
import { policyPlace } from './constraint.ts';
import { pathText } from './issue.ts';
import { sortedUnion } from './rules/rule.ts';
import type { RunFacts } from './run-facts.ts';
import { type Aliases, isByName } from './selectors.ts';
import { timed } from './timed.ts';

export interface EvaluateRulesInput {
  readonly calls: readonly CallInput[];
  /** Rules as written, or compiled. */
  readonly rules: readonly unknown[] | readonly CompiledRule[];
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  /** False for an unfinished or truncated run, in which pending obligations may still be met. */
  readonly complete?: boolean;
  /** Other facts about the run, for expressions. */
  readonly run?: RunFacts;
  /** Clock in milliseconds for `duration_ms`. */
  readonly now?: () => number;
}

/** Evaluates all sequence rules. Every rule gets a record, whatever the result of the others. */
export function evaluateRules(input: EvaluateRulesInput): RulesResult {
  return timed(input.now, () => {
    if (!Array.isArray(input.rules))
      throw new UserError('POLICY_VALUE', '"rules" must be a list of sequence rules');
    const rules = compiled(input.rules, new Map(Object.entries(input.aliases ?? {})));
    return evaluatePrepared(
      new CallTable(toCalls(input.calls), input.run),
      rules,
      input.complete ?? true,
    );
  });
}

/** Like `evaluateRules`, for compiled rules and prepared calls. */
export function evaluatePrepared(
  table: CallTable,
  rules: readonly CompiledRule[],
  complete: boolean,
): RulesResult {
  const records: RuleRecord[] = [];
  const violations: PolicyViolation[] = [];
  let unknownWhy: string | undefined;
  for (const rule of rules) {
    const verdict = rule.evaluate({ table, complete });
    const unknown = unknownCalls(rule, table);
    const record: RuleRecord = {
      rule_id: rule.id,
      type: rule.type,
      outcome: verdict.outcome,
      spanned: [...verdict.spanned],
      reason: verdict.actual,
      expected: verdict.expected,
      actual: verdict.actual,
      ...policyPlace(rule),
      obligations: verdict.obligations === undefined ? undefined : [...verdict.obligations],
      broken_by:
        verdict.brokenBy === undefined || verdict.brokenBy.length === 0
          ? undefined
          : [...verdict.brokenBy],
      unknown: unknown.length === 0 ? undefined : unknown,
      per_call: unknown.length > 0 && rule.isPerCall ? true : undefined,
    };
    records.push(record);
    // The unknown arguments could change the verdict, so it is unknown.
    if (unknown.length > 0) unknownWhy ??= whyUnknown(rule, table, unknown[0]!);
    if (unknown.length > 0 && !rule.isPerCall) continue;
    if (verdict.outcome === 'violated') violations.push(violationOf(rule, record, table));
  }
  const unnamed = rules.length === 0 ? undefined : unnamedReason(table.calls);
  const reason = unknownWhy ?? unnamed;
  const isExercised = records.some(({ outcome }) => outcome !== 'not_exercised');
  let status: PolicyStatus;
  if (violations.length > 0) status = 'fail';
  else if (reason === undefined) status = 'pass';
  else status = 'error';
  return {
    metric: 'sequence_valid',
    status,
    exercised: isExercised ? 'exercised' : 'not_exercised',
    violations,
    rules: records,
    reason,
  };
}

const unknownCalls = (rule: CompiledRule, table: CallTable): number[] =>
  sortedUnion(rule.doubts.map((selector) => (isByName(selector) ? [] : table.unknown(selector))));

function whyUnknown(rule: CompiledRule, table: CallTable, at: number): string {
  const doubt = rule.doubts.find(
    (selector) => !isByName(selector) && table.unknown(selector).includes(at),
  );
  if (doubt?.conditions === undefined) return 'a rule asks for arguments that were not captured';
  return `${rule.id}: ${table.why(doubt, at)}`;
}

function violationOf(rule: CompiledRule, record: RuleRecord, table: CallTable): PolicyViolation {
  const at = record.broken_by?.[0];
  return {
    tool: at === undefined ? (rule.selectors.at(-1)?.label ?? '') : table.calls[at]!.name,
    argument: null,
    value: null,
    constraint: rule.constraint,
    ...policyPlace(rule),
    message: `expected ${record.expected}; ${record.actual}`,
    call: at,
    rule: rule.id,
    severity: 'block',
  };
}

const isCompiled = (rules: readonly unknown[]): rules is readonly CompiledRule[] =>
  rules.length > 0 &&
  rules.every((rule) => typeof (rule as { evaluate?: unknown } | null)?.evaluate === 'function');

const cache = new WeakMap<readonly unknown[], readonly CompiledRule[]>();

function compiled(rules: readonly unknown[], aliases: Aliases): readonly CompiledRule[] {
  if (isCompiled(rules)) return rules;
  const before = aliases.size === 0 ? cache.get(rules) : undefined;
  if (before !== undefined) return before;
  const result = compileRules(rules, { aliases });
  const error = result.issues.find(({ severity }) => severity !== 'warning');
  if (error !== undefined) {
    throw new UserError(
      error.code,
      `${pathText('rules', error.path ?? [])}: ${error.message}`,
      error.hint === undefined ? {} : { hint: error.hint },
    );
  }
  if (aliases.size === 0) cache.set(rules, result.rules);
  return result.rules;
}
