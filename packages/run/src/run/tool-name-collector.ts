import { blocksIn } from '@agentci/checks';
import { isGlob } from '@agentci/lib/regex';
import { didYouMean, visibleName } from '@agentci/lib/text';
import type { Policy, Selector } from '@agentci/policy';
import { type CompiledRule, compileRules } from '@agentci/policy';
import type { CheckResult, QueryResult } from '@agentci/results';
import { UNKNOWN_TOOLS } from '@agentci/results';
import type { Query } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import type { SeenTools } from './run-parts.ts';

/** Checks that decide nothing if the tools they name are never called. */
const RULE_CHECKS = ['path.rules', 'policy.args_valid', 'policy.sequence_valid'];
const MAX_NAMED = 5;
/** One letter in four may differ. Similar tool names are often both valid. */
const SLIP_SHARE = 0.25;

/**
 * Collects the tools in the recordings of a run, called or offered, to report the tools in rules
 * that no recording has: mostly typos. A forbidden tool is not expected to appear, so it is
 * reported only if a known name is very similar.
 */
export class ToolNameCollector {
  readonly #queries: readonly Query[];
  readonly #known = new Set<string>();
  #isBlind = false;

  constructor(queries: readonly Query[]) {
    this.#queries = queries;
  }

  /** Marks calls from an earlier part of the run, or uncaptured ones. They may be of any tool. */
  notSeen(): void {
    this.#isBlind = true;
  }

  see(trace: Trace): void {
    if (trace.captured.toolCalls === 'none') this.#isBlind = true;
    for (const step of trace.steps) {
      if (step.kind !== 'tool') continue;
      this.#known.add(visibleName(step.name));
      if (step.rawName !== undefined) this.#known.add(visibleName(step.rawName));
    }
    for (const { name } of trace.tools ?? []) this.#known.add(visibleName(name));
    for (const { tools } of trace.agents)
      for (const name of tools ?? []) this.#known.add(visibleName(name));
  }

  /** The tools that were seen, and those in the rules. */
  seenTools(): SeenTools {
    return {
      isBlind: this.#isBlind,
      known: [...this.#known],
      ruled: this.#named(namesInRules),
      constrained: this.#named(namesInArguments),
      forbidden: this.#named(namesForbidden),
    };
  }

  #named(namesOf: (query: Query) => Iterable<string>): string[] {
    const names = new Set<string>();
    // Queries share inherited rules.
    const done = new Set<unknown>();
    for (const query of this.#queries) {
      const key = query.policies === undefined ? (query.test ?? query.path) : query;
      if (key === undefined || done.has(key)) continue;
      done.add(key);
      for (const name of namesOf(query)) names.add(visibleName(name));
    }
    return [...names].filter((name) => !isGlob(name));
  }
}

/** The tools in the rules of a run that no recording has. */
export function unknownTools(
  seen: SeenTools,
  results: readonly QueryResult[],
): { readonly notices: string[]; readonly checks: CheckResult[] } {
  if (seen.isBlind) return { notices: [], checks: [] };
  const known = new Set(seen.known);
  const unknown = (names: readonly string[]): Unknown[] =>
    names
      .filter((name) => !known.has(name))
      .map((name) => ({ name, near: didYouMean(name, known, SLIP_SHARE) }));
  const ruled = unknown(seen.ruled);
  const constrained = unknown(seen.constrained).filter(
    ({ name }) => !ruled.some((one) => one.name === name),
  );
  const forbidden = unknown(seen.forbidden).filter(({ near }) => near !== undefined);
  const named = [...ruled, ...constrained];
  const notices: string[] = [];
  if (named.length > 0)
    notices.push(`no recording and no list of tools knows ${listed(named)}, which the rules name`);
  if (forbidden.length > 0)
    notices.push(`no recording knows ${listed(forbidden)}, which is forbidden`);
  // A policy for all tools of an agent names more than a few runs use.
  const isMeant = ({ near }: Unknown): boolean => near !== undefined || !isDecided(results);
  const doubtful = [...ruled, ...constrained.filter(isMeant), ...forbidden];
  return { notices, checks: doubtful.length === 0 ? [] : [unknownCheck(doubtful)] };
}

const isDecided = (results: readonly QueryResult[]): boolean =>
  results.some(({ path }) =>
    path.checks.some(({ id, status }) => RULE_CHECKS.includes(id) && status !== 'skip'),
  );

interface Unknown {
  readonly name: string;
  readonly near: string | undefined;
}

function unknownCheck(ruled: readonly Unknown[]): CheckResult {
  return {
    id: UNKNOWN_TOOLS,
    status: 'skip',
    skip_reason: 'not_exercised',
    message: `no recording and no list of tools knows ${listed(ruled)}, so the rules about them decided nothing`,
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

/** Tools in sequence rules. */
function* namesInRules(query: Query): Generator<string> {
  for (const { rules } of policiesOf(query)) yield* ruledBy(rules);
  if (query.test?.metric === 'sequence_valid') yield* ruledBy(query.test.rules);
  for (const { rules } of blocksIn(query.path))
    if (Array.isArray(rules) && rules.length > 0) yield* ruledBy(compileRules(rules).rules);
}

function* ruledBy(rules: readonly CompiledRule[]): Generator<string> {
  for (const rule of rules)
    if (rule.type !== 'blocklist' && rule.type !== 'allowlist') yield* exact(rule.selectors);
}

/** Tools whose arguments a policy constrains. */
function* namesInArguments(query: Query): Generator<string> {
  for (const { tools } of policiesOf(query)) for (const { name } of tools.values()) yield name;
}

function* namesForbidden(query: Query): Generator<string> {
  for (const { forbidden_tools: tools, forbidden_calls: calls } of blocksIn(query.path)) {
    if (Array.isArray(tools)) for (const name of tools) if (typeof name === 'string') yield name;
    if (Array.isArray(calls))
      for (const { tool } of calls as { tool?: unknown }[])
        if (typeof tool === 'string') yield tool;
  }
  for (const policy of policiesOf(query)) yield* deniedBy(policy);
  if (query.test?.metric === 'tool_blocklist')
    for (const { text } of query.test.blocklist) yield text;
}

/** The policies of a query, and of a test of an Assay suite. */
const policiesOf = ({ policies = [], test }: Query): readonly Policy[] =>
  test?.metric === 'args_valid' ? [...policies, test.policy] : policies;

function* deniedBy({ deny, blocklist, rules }: Policy): Generator<string> {
  for (const { text } of [...deny, ...blocklist]) yield text;
  for (const rule of rules) if (rule.type === 'blocklist') yield* exact(rule.selectors);
}

const exact = (selectors: readonly Selector[]): string[] =>
  selectors.flatMap(({ exact: name }) => (name === undefined ? [] : [name]));
