import { didYouMean } from '../kit/did-you-mean.ts';
import { isGlob } from '../kit/glob.ts';
import { visibleName } from '../kit/visible-text.ts';
import { compileRules } from '../policy/compile-rules.ts';
import type { Policy } from '../policy/policy.ts';
import type { Selector } from '../policy/selectors.ts';
import type { CheckResult, QueryResult } from '../results/run-result.ts';
import type { Query } from '../spec/suite.ts';
import type { Trace } from '../trace/model.ts';
import { UNKNOWN_TOOLS } from './exit-code.ts';

/** Checks that decide nothing when the tools they name are never called. */
const RULE_CHECKS = ['path.rules', 'policy.args_valid', 'policy.sequence_valid'];
const MAX_NAMED = 5;
/** One letter in four may differ: names of tools are often alike and both meant. */
const SLIP_SHARE = 0.25;

/**
 * Sees which tools the recordings of a run know, called or offered, and says at the end which tools the rules name that
 * none of them knows: most often a slip of the pen. A tool that is only forbidden is not expected to turn up, so it is
 * spoken of only where a known name is very near.
 */
export class ToolWitness {
  readonly #queries: readonly Query[];
  readonly #known = new Set<string>();
  readonly #changed = new Map<string, string>();
  #isBlind = false;

  constructor(queries: readonly Query[]) {
    this.#queries = queries;
  }

  /** Calls that were made in an earlier part of the run, or not captured, may be of any tool. */
  notSeen(): void {
    this.#isBlind = true;
  }

  see(trace: Trace): void {
    if (trace.captured.toolCalls === 'none') this.#isBlind = true;
    for (const step of trace.steps) {
      if (step.kind !== 'tool') continue;
      this.#note(step.name);
      if (step.rawName !== undefined) this.#note(step.rawName);
    }
    for (const { name } of trace.tools ?? []) this.#known.add(visibleName(name));
    for (const { tools } of trace.agents) for (const name of tools ?? []) this.#known.add(visibleName(name));
  }

  #note(name: string): void {
    if (this.#known.has(name)) return;
    const seen = visibleName(name);
    this.#known.add(seen);
    if (seen !== name) this.#changed.set(name, seen);
  }

  report(results: readonly QueryResult[]): { readonly notices: string[]; readonly checks: CheckResult[] } {
    const notices = [...this.#changed].slice(0, MAX_NAMED).map(([name, seen]) => {
      return `a recording has the tool ${shownCodes(name)}, which shows as "${seen}" and is compared as that`;
    });
    if (this.#isBlind) return { notices, checks: [] };
    const ruled = this.#unknown(namesInRules);
    const forbidden = this.#unknown(namesForbidden).filter(({ near }) => near !== undefined);
    if (ruled.length > 0)
      notices.push(`no recording and no list of tools knows ${listed(ruled)}, which the rules name`);
    if (forbidden.length > 0) notices.push(`no recording knows ${listed(forbidden)}, which is forbidden`);
    const isDecided = results.some(({ path }) =>
      path.checks.some(({ id, status }) => RULE_CHECKS.includes(id) && status !== 'skip'),
    );
    const isOpen = results.some(({ path }) =>
      path.checks.some(({ id, skip_reason }) => RULE_CHECKS.includes(id) && skip_reason === 'not_exercised'),
    );
    if (ruled.length === 0 || isDecided || !isOpen) return { notices, checks: [] };
    return { notices, checks: [unknownCheck(ruled)] };
  }

  #unknown(namesOf: (query: Query) => Iterable<string>): Unknown[] {
    const names = new Set<string>();
    // Queries share what they inherit.
    const done = new Set<unknown>();
    for (const query of this.#queries) {
      const key = query.policies === undefined ? query.path : query;
      if (key === undefined || done.has(key)) continue;
      done.add(key);
      for (const name of namesOf(query)) names.add(visibleName(name));
    }
    return [...names]
      .filter((name) => !isGlob(name) && !this.#known.has(name))
      .map((name) => ({ name, near: didYouMean(name, this.#known, SLIP_SHARE) }));
  }
}

interface Unknown {
  readonly name: string;
  readonly near: string | undefined;
}

function unknownCheck(ruled: readonly Unknown[]): CheckResult {
  return {
    id: UNKNOWN_TOOLS,
    status: 'skip',
    skip_reason: 'not_exercised',
    message: `the rules decided nothing: no recording and no list of tools knows ${listed(ruled)}`,
    value: ruled.map(({ name }) => name),
    evidence: [],
  };
}

const listed = (unknown: readonly Unknown[]): string => {
  const shown = unknown
    .slice(0, MAX_NAMED)
    .map(({ name, near }) => `"${name}"${near === undefined ? '' : ` (did you mean "${near}"?)`}`);
  const more = unknown.length > MAX_NAMED ? ` and ${unknown.length - MAX_NAMED} more` : '';
  return `${shown.join(', ')}${more}`;
};

/** A name whose odd characters do not show, with their numbers. */
const shownCodes = (name: string): string =>
  JSON.stringify(name).replace(
    /[^ -~]/gu,
    (char) => `\\u{${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}}`,
  );

/** Tools that rules and argument policies are about. */
function* namesInRules(query: Query): Generator<string> {
  for (const policy of query.policies ?? []) {
    for (const tool of policy.tools.values()) yield tool.name;
    for (const rule of policy.rules)
      if (rule.type !== 'blocklist' && rule.type !== 'allowlist') yield* exact(rule.selectors);
  }
  const rules = query.path?.rules;
  if (!Array.isArray(rules) || rules.length === 0) return;
  for (const rule of compileRules(rules).rules)
    if (rule.type !== 'blocklist' && rule.type !== 'allowlist') yield* exact(rule.selectors);
}

function* namesForbidden(query: Query): Generator<string> {
  const written = query.path?.forbidden_tools;
  if (Array.isArray(written)) for (const name of written) if (typeof name === 'string') yield name;
  for (const policy of query.policies ?? []) yield* deniedBy(policy);
}

function* deniedBy({ deny, blocklist, rules }: Policy): Generator<string> {
  for (const { text } of [...deny, ...blocklist]) yield text;
  for (const rule of rules) if (rule.type === 'blocklist') yield* exact(rule.selectors);
}

const exact = (selectors: readonly Selector[]): string[] =>
  selectors.flatMap(({ exact: name }) => (name === undefined ? [] : [name]));
