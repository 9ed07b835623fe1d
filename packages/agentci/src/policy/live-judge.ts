import type { ExplainedCall, ExplainedCause } from '../results/policy-report.ts';
import { isMeant, meantNames } from '../trace/tool-name.ts';
import type { PolicyCall } from './call.ts';
import { CallJudge } from './call-judge.ts';
import { undecidedCause, violationCause } from './causes.ts';
import type { CompiledRule } from './compile-rules.ts';
import { policyPlace } from './constraint.ts';
import { blockedViolation } from './evaluate-blocklist.ts';
import { LiveTable } from './live-table.ts';
import type { Policy } from './policy.ts';

/** What a policy says of one call, after the calls before it. `unknown` is not a yes. */
export type LiveVerdict = Pick<ExplainedCall, 'verdict' | 'by'>;

/** A part of a policy that refusing calls cannot bring about. */
export interface OpenRule {
  readonly rule: string;
  /** What must have happened by the end. */
  readonly expected: string;
  readonly policy_line: number | null;
}

/**
 * Judges the calls of a run one by one, before they are made. It is `explainCalls` on the calls so far and this one, for an
 * unfinished run, at a price that does not grow with the calls before.
 */
export class LiveJudge {
  readonly #policy: Policy;
  readonly #judge: CallJudge;
  readonly #table: LiveTable;

  constructor(policy: Policy, { strict = false }: { readonly strict?: boolean } = {}) {
    this.#policy = policy;
    this.#judge = new CallJudge(policy, strict);
    this.#table = new LiveTable(policy.rules.flatMap(({ selectors }) => selectors));
  }

  /** How many calls were made. */
  get calls(): number {
    return this.#table.calls.length;
  }

  /** Judges a call. It counts as made from then on, unless it is taken back. */
  judge(call: PolicyCall): LiveVerdict {
    const before = this.#table.calls.length;
    const counted = this.#judge.calls;
    try {
      return this.#judgeNext(call);
    } catch (error) {
      // What could not be judged to the end leaves nothing behind.
      if (this.#table.calls.length > before) this.#table.removeLast();
      if (this.#judge.calls > counted) this.#judge.takeBack();
      this.#judge.takeFindings();
      throw error;
    }
  }

  #judgeNext(call: PolicyCall): LiveVerdict {
    const at = this.#table.add(call);
    this.#judge.add(call, at);
    const { violations, undecided } = this.#judge.takeFindings();
    const blocks = violations.filter(({ severity }) => severity === 'block').map(violationCause);
    const warns = violations.filter(({ severity }) => severity === 'warn').map(violationCause);
    const unknowns = undecided.map(undecidedCause);
    const blocked = this.#blocked(call, at);
    if (blocked !== undefined) blocks.push(blocked);
    for (const rule of this.#policy.rules) {
      const reason = rule.breaks?.(this.#table, at);
      const { hasUnknown, isUnknown } = this.#doubt(rule, at);
      if (reason === undefined && !isUnknown) continue;
      const place = policyPlace(rule);
      // What the missing arguments would have changed is not known, so neither is the verdict.
      if (hasUnknown) unknowns.push({ rule: rule.id, reason: UNKNOWN_ARGUMENTS, ...place });
      else if (reason !== undefined) blocks.push({ rule: rule.id, reason, ...place });
    }
    const verdict =
      blocks.length > 0 ? 'blocked' : unknowns.length > 0 ? 'unknown' : warns.length > 0 ? 'warned' : 'allowed';
    return { verdict, by: [...blocks, ...unknowns, ...warns] };
  }

  /** The last call was refused, so it was never made. */
  takeBack(): void {
    this.#table.removeLast();
    this.#judge.takeBack();
  }

  /** What forbids every call of a tool, whatever its arguments and whatever came before. */
  forbids(call: PolicyCall): ExplainedCause | undefined {
    const violation = this.#judge.forbidden(call);
    if (violation !== undefined) return violationCause(violation);
    const blocked = this.#blocked(call, 0);
    if (blocked !== undefined) return blocked;
    const names = meantNames(call);
    const rule = this.#policy.rules.find(({ forbids }) => forbids?.(({ matchesName }) => names.some(matchesName)));
    return rule === undefined ? undefined : { rule: rule.id, reason: 'Tool is never allowed', ...policyPlace(rule) };
  }

  /** What was left undone when the run ended. */
  atEnd(): ExplainedCause[] {
    return this.#policy.rules.flatMap((rule) => {
      if (rule.open === undefined) return [];
      const { outcome, actual, brokenBy = [] } = rule.evaluate({ table: this.#table, complete: true });
      if (outcome !== 'violated' || brokenBy.length > 0) return [];
      return [{ rule: rule.id, reason: actual, ...policyPlace(rule) }];
    });
  }

  #blocked(call: PolicyCall, at: number): ExplainedCause | undefined {
    const hit = this.#policy.blocklist.find(({ matches }) => isMeant(call, matches));
    return hit === undefined ? undefined : violationCause(blockedViolation(call.name, hit, at));
  }

  #doubt({ selectors }: CompiledRule, at: number): { readonly hasUnknown: boolean; readonly isUnknown: boolean } {
    let hasUnknown = false;
    for (const selector of selectors) {
      if (selector.args === undefined) continue;
      const last = this.#table.unknown(selector).at(-1);
      if (last === at) return { hasUnknown: true, isUnknown: true };
      hasUnknown ||= last !== undefined;
    }
    return { hasUnknown, isUnknown: false };
  }
}

export const UNKNOWN_ARGUMENTS = 'could not tell: arguments were not captured';

/** The rules of a policy that no refusal can enforce, or not all of them. */
export const openRules = (policy: Policy): OpenRule[] =>
  policy.rules.flatMap(({ id, open, line }) =>
    open === undefined ? [] : [{ rule: id, expected: open, policy_line: line }],
  );
