import type { GlobMatcher } from '@agentci/lib/regex';
import type { CallInput } from './call.ts';
import type { CompiledRule } from './compile-rules.ts';
import type { Constraint, ConstraintPlace } from './constraint.ts';
import type { RunFacts } from './run-facts.ts';
import type { Aliases } from './selectors.ts';

/** The part of a policy about one tool. */
export interface ToolPolicy {
  readonly name: string;
  readonly place: ConstraintPlace;
  /** Absent if the tool is only named. */
  readonly schema?: Constraint;
  /** From `schemas` of the v2 form. Its violations have a code. */
  readonly isJsonSchema: boolean;
}

/** An entry in a list of names. */
export interface NamePattern {
  readonly text: string;
  readonly matches: GlobMatcher;
  readonly place: ConstraintPlace;
}

/** Calls with the expected verdict of the policy. */
export interface PolicyExample {
  readonly name: string;
  readonly calls: readonly CallInput[];
  readonly expect: 'allow' | 'deny';
  /** A rule id or code that must be among the reasons of a refusal. */
  readonly rule?: string;
  readonly run: RunFacts;
  readonly place: ConstraintPlace;
}

/** A compiled policy file, every constraint with its line. */
export interface Policy {
  readonly file: string;
  readonly name?: string;
  readonly tools: ReadonlyMap<string, ToolPolicy>;
  /** Tools written as globs, e.g. `admin_*`. Used if no exact name matches. */
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
  /** Calls with an expected verdict, for `agentci policy test`. */
  readonly examples: readonly PolicyExample[];
  /**
   * The source texts, without the document that may contain the policy. They decide whether two
   * policies are equal.
   */
  readonly sources: readonly string[];
  /** The policy restricts names or arguments, so `args_valid` can fail. */
  readonly hasCallRules: boolean;
}

/** Names with a server prefix, such as `mcp__files__read`. They need a known server. */
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

/** The policy for a tool: its exact entry, else the first matching glob. */
export function toolPolicy(policy: Policy, name: string): ToolPolicy | undefined {
  return policy.tools.get(name) ?? policy.toolGlobs.find(({ matches }) => matches(name))?.tool;
}
