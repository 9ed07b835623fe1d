import type { GlobMatcher } from '@agentci/lib/regex';
import type { CallInput } from './call.ts';
import type { CompiledRule } from './compile-rules.ts';
import type { Constraint, ConstraintPlace } from './constraint.ts';
import type { RunFacts } from './run-facts.ts';
import type { Aliases } from './selectors.ts';

/** What a policy says about one tool. */
export interface ToolPolicy {
  readonly name: string;
  readonly place: ConstraintPlace;
  /** Absent when the tool is only named. */
  readonly schema?: Constraint;
  /** From `schemas` of the v2 form: its violations carry a code. */
  readonly isJsonSchema: boolean;
}

/** An entry of a list of names. */
export interface NamePattern {
  readonly text: string;
  readonly matches: GlobMatcher;
  readonly place: ConstraintPlace;
}

/** Calls, and what the policy must say of them. */
export interface PolicyExample {
  readonly name: string;
  readonly calls: readonly CallInput[];
  readonly expect: 'allow' | 'deny';
  /** What must be among the reasons of a refusal: the id of a rule, or a code. */
  readonly rule?: string;
  readonly run: RunFacts;
  readonly place: ConstraintPlace;
}

/** A policy file, read once: everything in it compiled, every constraint with its line. */
export interface Policy {
  readonly file: string;
  readonly name?: string;
  readonly tools: ReadonlyMap<string, ToolPolicy>;
  /** Tools written as globs, e.g. `admin_*`; asked when no exact name fits. */
  readonly toolGlobs: readonly { readonly matches: GlobMatcher; readonly tool: ToolPolicy }[];
  readonly allow?: readonly NamePattern[];
  readonly allowPlace?: ConstraintPlace;
  readonly deny: readonly NamePattern[];
  readonly unconstrained?: {
    readonly mode: 'allow' | 'warn' | 'deny';
    readonly place: ConstraintPlace;
  };
  readonly limits: readonly {
    readonly name: string;
    readonly max: number;
    readonly place: ConstraintPlace;
  }[];
  readonly aliases: Aliases;
  readonly rules: readonly CompiledRule[];
  readonly blocklist: readonly NamePattern[];
  /** Calls the policy itself says the verdict on, for `agentci policy test`. */
  readonly examples: readonly PolicyExample[];
  /** The texts it was read from, apart from the document it may be part of: they decide whether two policies are the same. */
  readonly sources: readonly string[];
  /** It says something about names or arguments of calls, so that `args_valid` can fail. */
  readonly hasCallRules: boolean;
}

/** The names in it that begin with a server, `mcp__files__read`: they mean nothing where the server is not known. */
export function namesWithServer({
  tools,
  toolGlobs,
  allow = [],
  deny,
  limits,
  blocklist,
  aliases,
  rules,
}: Policy): string[] {
  const names = [
    ...tools.keys(),
    ...toolGlobs.map(({ tool }) => tool.name),
    ...[...allow, ...deny, ...blocklist].map(({ text }) => text),
    ...limits.map(({ name }) => name),
    ...[...aliases.values()].flat(),
    ...rules.flatMap(({ selectors }) => selectors.map(({ label }) => label)),
  ];
  return names.filter((name) => name.startsWith('mcp__'));
}

/** What the policy says about a tool: its own entry, else the first glob that fits. */
export function toolPolicy(policy: Policy, name: string): ToolPolicy | undefined {
  return policy.tools.get(name) ?? policy.toolGlobs.find(({ matches }) => matches(name))?.tool;
}
