import type { ExplainedCall, ExplainedCause } from '@agentci/results';
import { isMeant, meantNames } from '@agentci/trace';
import type { PolicyCall } from './call.ts';
import { CallJudge } from './call-judge.ts';
import type { CallLists } from './call-table.ts';
import { undecidedCause, violationCause } from './causes.ts';
import type { CompiledRule } from './compile-rules.ts';
import { policyPlace } from './constraint.ts';
import { blockedViolation } from './evaluate-blocklist.ts';
import { type CallOutcome, LiveTable } from './live-table.ts';
import type { Policy } from './policy.ts';
import type { RunFacts } from './run-facts.ts';
import { isByName } from './selectors.ts';

/** Rules that search texts. */
const TEXT_RULES = new Set(['detect', 'flow']);

/** The verdict on one call after the calls before it. `unknown` does not mean allowed. */
export type LiveVerdict = Pick<ExplainedCall, 'verdict' | 'by'>;

/** A part of a policy that cannot be enforced by refusing calls. */
export interface OpenRule {
  readonly rule: string;
  /** Required by the end of the run. */
  readonly expected: string;
  readonly policy_line: number | null;
}

/**
 * Judges the calls of a run one by one, before they are made. Gives the same results as
 * `explainCalls` on an unfinished run, at a cost independent of the earlier calls.
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

  /** Number of calls made. */
  get calls(): number {
    return this.#table.calls.length;
  }

  /** Judges a call. From then on it counts as made, unless it is taken back. */
  judge(call: PolicyCall): LiveVerdict {
    const before = this.#table.calls.length;
    const counted = this.#judge.calls;
    try {
      return this.#judgeNext(call);
    } catch (error) {
      // A call whose judgment throws is removed again.
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
    for (const rule of this.#policy.rules)
      if (!rule.needsResult) this.#ask(rule, at, { blocks, unknowns });
    return verdictOf(blocks, unknowns, warns);
  }

  /** Called after a call. Decides the rules on results: a verdict on returning this one. */
  settle(at: number, outcome: CallOutcome): LiveVerdict {
    this.#table.settle(at, outcome);
    const found = { blocks: [] as ExplainedCause[], unknowns: [] as ExplainedCause[] };
    for (const rule of this.#policy.rules) if (rule.needsResult) this.#ask(rule, at, found);
    return verdictOf(found.blocks, found.unknowns, []);
  }

  /**
   * Judges texts that belong to a call but are not its arguments or result: later input, or
   * requests of a server. Changes no state.
   */
  probe(call: PolicyCall, outcome?: CallOutcome): LiveVerdict {
    return this.#asIf(
      call,
      outcome,
      ({ type, needsResult }) => TEXT_RULES.has(type) && needsResult === (outcome !== undefined),
    );
  }

  /** Whether the policy forbids a tool because of its definition. */
  distrusts(call: PolicyCall): boolean {
    return (
      this.#asIf(call, undefined, ({ type }) => type === 'tool_definition').verdict === 'blocked'
    );
  }

  /** The verdict of some rules on a hypothetical call. */
  #asIf(
    call: PolicyCall,
    outcome: CallOutcome | undefined,
    isAsked: (rule: CompiledRule) => boolean,
  ): LiveVerdict {
    const found = { blocks: [] as ExplainedCause[], unknowns: [] as ExplainedCause[] };
    const at = this.#table.add(call);
    try {
      if (outcome !== undefined) this.#table.settle(at, outcome);
      for (const rule of this.#policy.rules) if (isAsked(rule)) this.#ask(rule, at, found);
    } finally {
      this.#table.removeLast();
    }
    return verdictOf(found.blocks, found.unknowns, []);
  }

  /** Adds facts learned during the run: the definitions of its tools. */
  learn(run: RunFacts): void {
    this.#table.run = { ...this.#table.run, ...run };
  }

  /** Whether the policy reads the definitions of tools. */
  get looksAtTools(): boolean {
    return this.#policy.rules.some((rule) => rule.looksAtTools === true);
  }

  /** Whether the policy has conditions, which may read the time and agent of a call. */
  get hasConditions(): boolean {
    return this.#policy.rules.some(({ selectors }) =>
      selectors.some(({ conditions }) => conditions !== undefined),
    );
  }

  /** Whether the policy reads arguments. */
  get looksAtArguments(): boolean {
    const { tools, toolGlobs, rules } = this.#policy;
    const named = [...tools.values(), ...toolGlobs.map(({ tool }) => tool)];
    return (
      named.some(({ schema }) => schema !== undefined) ||
      rules.some(({ selectors }) => !selectors.every(isByName))
    );
  }

  /** Whether the policy reads results. */
  get looksAtResults(): boolean {
    return this.#policy.rules.some((rule) => rule.looksAtResults);
  }

  #ask(
    rule: CompiledRule,
    at: number,
    {
      blocks,
      unknowns,
    }: { readonly blocks: ExplainedCause[]; readonly unknowns: ExplainedCause[] },
  ): void {
    const reason = rule.breaks?.(this.#table, at);
    const place = policyPlace(rule);
    const doubt = doubtAt(rule, this.#table, at);
    if (rule.isPerCall) {
      if (reason !== undefined) blocks.push({ rule: rule.id, reason, ...place });
      else if (doubt !== undefined) unknowns.push({ rule: rule.id, reason: doubt, ...place });
      return;
    }
    if (reason === undefined && doubt === undefined) return;
    // The missing arguments could change the verdict, so it is unknown.
    const earlier = doubt ?? earlierDoubt(rule, this.#table);
    if (earlier !== undefined) unknowns.push({ rule: rule.id, reason: earlier, ...place });
    else if (reason !== undefined) blocks.push({ rule: rule.id, reason, ...place });
  }

  /** Removes the last call because it was refused. */
  takeBack(): void {
    this.#table.removeLast();
    this.#judge.takeBack();
  }

  /** The reason why every call of a tool is forbidden, independent of arguments and history. */
  forbids(call: PolicyCall): ExplainedCause | undefined {
    const violation = this.#judge.forbidden(call);
    if (violation !== undefined) return violationCause(violation);
    const blocked = this.#blocked(call, 0);
    if (blocked !== undefined) return blocked;
    const names = meantNames(call);
    const rule = this.#policy.rules.find(({ forbids }) =>
      forbids?.(({ matchesName }) => names.some(matchesName)),
    );
    return rule === undefined
      ? undefined
      : { rule: rule.id, reason: 'Tool is never allowed', ...policyPlace(rule) };
  }

  /** Unmet requirements at the end of the run. */
  atEnd(): ExplainedCause[] {
    return this.#policy.rules.flatMap((rule) => {
      if (rule.open === undefined) return [];
      const {
        outcome,
        actual,
        brokenBy = [],
      } = rule.evaluate({ table: this.#table, complete: true });
      if (outcome !== 'violated' || brokenBy.length > 0) return [];
      return [{ rule: rule.id, reason: actual, ...policyPlace(rule) }];
    });
  }

  #blocked(call: PolicyCall, at: number): ExplainedCause | undefined {
    const hit = this.#policy.blocklist.find(({ matches }) => isMeant(call, matches));
    return hit === undefined ? undefined : violationCause(blockedViolation(call.name, hit, at));
  }
}

function verdictOf(
  blocks: readonly ExplainedCause[],
  unknowns: readonly ExplainedCause[],
  warns: readonly ExplainedCause[],
): LiveVerdict {
  let verdict: 'unknown' | 'blocked' | 'warned' | 'allowed';
  if (blocks.length > 0) verdict = 'blocked';
  else if (unknowns.length > 0) verdict = 'unknown';
  else if (warns.length > 0) verdict = 'warned';
  else verdict = 'allowed';
  return { verdict, by: [...blocks, ...unknowns, ...warns] };
}

/** The reason why a rule cannot decide a call. */
export function doubtAt(
  { doubts }: CompiledRule,
  calls: CallLists,
  at: number,
): string | undefined {
  const doubt = doubts.find(
    (selector) => !isByName(selector) && calls.unknown(selector).includes(at),
  );
  return doubt === undefined ? undefined : `could not tell: ${calls.why(doubt, at)}`;
}

/** The reason why a rule cannot decide an earlier call that affects later verdicts. */
function earlierDoubt({ doubts }: CompiledRule, calls: CallLists): string | undefined {
  for (const selector of doubts) {
    const last = isByName(selector) ? undefined : calls.unknown(selector).at(-1);
    if (last !== undefined) return `could not tell: ${calls.why(selector, last)}`;
  }
  return undefined;
}

/** Rules of a policy that refusals cannot enforce, at least in part. */
export const openRules = (policy: Policy): OpenRule[] =>
  policy.rules.flatMap(({ id, open, line }) =>
    open === undefined ? [] : [{ rule: id, expected: open, policy_line: line }],
  );
