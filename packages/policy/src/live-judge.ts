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

/** Rules that look for texts. */
const TEXT_RULES = new Set(['detect', 'flow']);

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
    for (const rule of this.#policy.rules)
      if (!rule.needsResult) this.#ask(rule, at, { blocks, unknowns });
    return verdictOf(blocks, unknowns, warns);
  }

  /** A call has come to its end. What the policy asks of results is decided now: a verdict on handing this one on. */
  settle(at: number, outcome: CallOutcome): LiveVerdict {
    this.#table.settle(at, outcome);
    const found = { blocks: [] as ExplainedCause[], unknowns: [] as ExplainedCause[] };
    for (const rule of this.#policy.rules) if (rule.needsResult) this.#ask(rule, at, found);
    return verdictOf(found.blocks, found.unknowns, []);
  }

  /**
   * What the policy says of texts that belong to a call and are not its arguments or its result: what was handed in later, or
   * what a server asks. It leaves nothing behind.
   */
  probe(call: PolicyCall, outcome?: CallOutcome): LiveVerdict {
    return this.#asIf(
      call,
      outcome,
      ({ type, needsResult }) => TEXT_RULES.has(type) && needsResult === (outcome !== undefined),
    );
  }

  /** Whether the policy forbids a tool for how it is defined. */
  distrusts(call: PolicyCall): boolean {
    return (
      this.#asIf(call, undefined, ({ type }) => type === 'tool_definition').verdict === 'blocked'
    );
  }

  /** The verdict of some rules on a call that is not made. */
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

  /** What becomes known of the run while it is under way: the definitions of its tools. */
  learn(run: RunFacts): void {
    this.#table.run = { ...this.#table.run, ...run };
  }

  /** Whether the policy looks at the definitions of tools. */
  get looksAtTools(): boolean {
    return this.#policy.rules.some((rule) => rule.looksAtTools === true);
  }

  /** Whether the policy has conditions, which may ask when a call was made and by whom. */
  get hasConditions(): boolean {
    return this.#policy.rules.some(({ selectors }) =>
      selectors.some(({ conditions }) => conditions !== undefined),
    );
  }

  /** Whether the policy looks at what calls are given. */
  get looksAtArguments(): boolean {
    const { tools, toolGlobs, rules } = this.#policy;
    const named = [...tools.values(), ...toolGlobs.map(({ tool }) => tool)];
    return (
      named.some(({ schema }) => schema !== undefined) ||
      rules.some(({ selectors }) => !selectors.every(isByName))
    );
  }

  /** Whether the policy looks at what calls give back. */
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
    // What the missing arguments would have changed is not known, so neither is the verdict.
    const earlier = doubt ?? earlierDoubt(rule, this.#table);
    if (earlier !== undefined) unknowns.push({ rule: rule.id, reason: earlier, ...place });
    else if (reason !== undefined) blocks.push({ rule: rule.id, reason, ...place });
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
    const rule = this.#policy.rules.find(({ forbids }) =>
      forbids?.(({ matchesName }) => names.some(matchesName)),
    );
    return rule === undefined
      ? undefined
      : { rule: rule.id, reason: 'Tool is never allowed', ...policyPlace(rule) };
  }

  /** What was left undone when the run ended. */
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

/** Why a rule cannot tell about a call, in words. */
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

/** Why a rule cannot tell about an earlier call, which its verdict on a later one hangs on. */
function earlierDoubt({ doubts }: CompiledRule, calls: CallLists): string | undefined {
  for (const selector of doubts) {
    const last = isByName(selector) ? undefined : calls.unknown(selector).at(-1);
    if (last !== undefined) return `could not tell: ${calls.why(selector, last)}`;
  }
  return undefined;
}

/** The rules of a policy that no refusal can enforce, or not all of them. */
export const openRules = (policy: Policy): OpenRule[] =>
  policy.rules.flatMap(({ id, open, line }) =>
    open === undefined ? [] : [{ rule: id, expected: open, policy_line: line }],
  );
