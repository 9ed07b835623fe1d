import { isObject } from '@agentci/lib/data';
import type { Problem } from '@agentci/lib/problems';
import {
  compileGlob,
  compileRegex,
  type GlobMatcher,
  isGlob,
  matchesEverything,
  type Regex,
} from '@agentci/lib/regex';
import { patternSlip, visibleName } from '@agentci/lib/text';
import type { Condition } from './condition-type.ts';
import { shown } from './issue.ts';

/** Matches calls by the tool's name and patterns on arguments. */
export interface Selector {
  /** As written, for ids and messages. */
  readonly label: string;
  /** The single matching name. Absent for a glob or an alias of several. */
  readonly exact?: string;
  readonly matchesName: GlobMatcher;
  readonly args?: readonly { readonly name: string; readonly regex: Regex }[];
  /** The rule requires such a call instead of forbidding it, so a possible match does not count. */
  readonly isWanted?: true;
  /** Further conditions. All must hold. */
  readonly conditions?: readonly Condition[];
}

/** Whether only the tool's name decides. */
export const isByName = ({ args, conditions }: Selector): boolean =>
  args === undefined && conditions === undefined;

/** Every call. */
export const ANY_CALL: Selector = { label: '*', matchesName: () => true };

/** Adds conditions to a selector. */
export function withConditions(selector: Selector, conditions: readonly Condition[]): Selector {
  if (conditions.length === 0) return selector;
  const label = [selector.label, ...conditions.map((each) => each.label)].join(' ');
  return { ...selector, label, conditions: [...(selector.conditions ?? []), ...conditions] };
}

/** Aliases for groups of tools: `aliases: {Read: [get_file, "list_*"]}`. */
export type Aliases = ReadonlyMap<string, readonly string[]>;

type Report = (
  issue: Omit<Problem, 'path'> & { readonly at?: readonly (string | number)[] },
) => void;

/** Parses a selector: a name, a glob, an alias, or `{tool, args_match: {argument: regex}}`. */
export function compileSelector(
  value: unknown,
  aliases: Aliases,
  report: Report,
): Selector | undefined {
  if (typeof value === 'string') return compileName(value, aliases, report);
  if (!isObject(value)) {
    report({
      severity: 'error',
      code: 'POLICY_VALUE',
      message: `a tool is named by text or {tool, args_match}, not ${shown(value)}`,
    });
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (key === 'tool' || key === 'args_match') continue;
    report({
      severity: 'error',
      code: 'POLICY_UNKNOWN_KEY',
      message: `a selector has no key "${key}"`,
      hint: 'its keys are "tool" and "args_match"',
      at: [key],
      part: 'key',
    });
  }
  if (typeof value.tool !== 'string') {
    report({ severity: 'error', code: 'POLICY_VALUE', message: 'a selector needs "tool"' });
    return undefined;
  }
  const named = compileName(value.tool, aliases, (issue) => report({ ...issue, at: ['tool'] }));
  if (named === undefined || value.args_match === undefined) return named;
  const args = compileArguments(value.args_match, report);
  if (args === undefined) return undefined;
  const label = `${named.label}{${args.map(({ name, regex }) => `${name}~/${regex.source}/`).join(',')}}`;
  return { ...named, label, args };
}

function compileName(text: string, aliases: Aliases, report: Report): Selector | undefined {
  if (text.trim() === '') {
    report({ severity: 'error', code: 'POLICY_VALUE', message: 'the name of a tool is blank' });
    return undefined;
  }
  const names = aliases.get(text);
  if (names === undefined) {
    const slip = patternSlip(text);
    if (slip !== undefined) {
      const message = `${shown(text)} matches no tool: ${slip.why}`;
      report({ severity: 'error', code: 'POLICY_BAD_PATTERN', message, hint: slip.hint });
      return undefined;
    }
    const seen = visibleName(text);
    return isGlob(seen)
      ? { label: text, matchesName: compileGlob(seen) }
      : { label: text, exact: seen, matchesName: (name) => name === seen };
  }
  if (names.length === 1 && !isGlob(names[0]!)) {
    const only = visibleName(names[0]!);
    return { label: text, exact: only, matchesName: (name) => name === only };
  }
  const globs = names.map(compileGlob);
  return { label: text, matchesName: (name) => globs.some((glob) => glob(name)) };
}

function compileArguments(value: unknown, report: Report): Selector['args'] {
  if (!isObject(value) || Object.keys(value).length === 0) {
    report({
      severity: 'error',
      code: 'POLICY_VALUE',
      message: '"args_match" must be a map from arguments to regular expressions',
      at: ['args_match'],
    });
    return undefined;
  }
  const args: { name: string; regex: Regex }[] = [];
  let isSound = true;
  for (const [name, pattern] of Object.entries(value)) {
    const compiled = typeof pattern === 'string' ? compileRegex(pattern) : undefined;
    if (compiled?.ok) {
      args.push({ name, regex: compiled.regex });
      if (matchesEverything(pattern as string))
        report({
          severity: 'warning',
          code: 'POLICY_CANNOT_FAIL',
          message: `the pattern ${shown(pattern)} matches every text`,
          at: ['args_match', name],
        });
      continue;
    }
    isSound = false;
    report({
      severity: 'error',
      code: 'POLICY_BAD_PATTERN',
      message: `${shown(pattern)} is not a regular expression${compiled === undefined ? '' : `: ${compiled.message}`}`,
      at: ['args_match', name],
    });
  }
  return isSound ? args : undefined;
}
