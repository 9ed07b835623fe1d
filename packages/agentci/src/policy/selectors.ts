import { compileGlob, type GlobMatcher, isGlob } from '../kit/glob.ts';
import { patternSlip } from '../kit/name-slip.ts';
import { isObject } from '../kit/object.ts';
import type { Problem } from '../kit/problem.ts';
import { compileRegex, matchesEverything, type Regex, RegexTimeout } from '../kit/regex.ts';
import { visibleName } from '../kit/visible-text.ts';
import { meantNames } from '../trace/tool-name.ts';
import type { PolicyCall } from './call.ts';
import { shown } from './issue.ts';

/** Which calls are meant: by the tool's name, and by what its arguments look like. */
export interface Selector {
  /** As written, for ids and messages. */
  readonly label: string;
  /** The one name it stands for; absent for a glob or an alias of several. */
  readonly exact?: string;
  readonly matchesName: GlobMatcher;
  readonly args?: readonly { readonly name: string; readonly regex: Regex }[];
}

/** Short names for groups of tools: `aliases: {Read: [get_file, "list_*"]}`. */
export type Aliases = ReadonlyMap<string, readonly string[]>;

type Report = (issue: Omit<Problem, 'path'> & { readonly at?: readonly (string | number)[] }) => void;

/** Reads a selector: a name, a glob, an alias, or `{tool, args_match: {argument: regex}}`. */
export function compileSelector(value: unknown, aliases: Aliases, report: Report): Selector | undefined {
  if (typeof value === 'string') return compileName(value, aliases, report);
  if (!isObject(value)) {
    report({
      severity: 'error',
      code: 'POLICY_TYPE',
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
    report({ severity: 'error', code: 'POLICY_REQUIRED', message: 'a selector needs "tool"' });
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
    report({ severity: 'error', code: 'POLICY_BLANK', message: 'the name of a tool is blank' });
    return undefined;
  }
  const names = aliases.get(text);
  if (names === undefined) {
    const slip = patternSlip(text);
    if (slip !== undefined) {
      const message = `${shown(text)} matches no tool: ${slip.why}`;
      report({ severity: 'error', code: 'POLICY_BAD_GLOB', message, hint: slip.hint });
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
      code: 'POLICY_TYPE',
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
      code: 'POLICY_PATTERN',
      message: `${shown(pattern)} is not a regular expression${compiled === undefined ? '' : `: ${compiled.message}`}`,
      at: ['args_match', name],
    });
  }
  return isSound ? args : undefined;
}

/** The calls of one trace, by tool, so that fifty rules do not walk a thousand calls fifty times. */
export class CallTable {
  readonly calls: readonly PolicyCall[];
  readonly #byName = new Map<string, number[]>();
  readonly #found = new Map<Selector, readonly number[]>();
  readonly #unknown = new Map<Selector, number[]>();
  #all: readonly number[] | undefined;

  constructor(calls: readonly PolicyCall[]) {
    this.calls = calls;
    for (let i = 0; i < calls.length; i++) {
      for (const name of meantNames(calls[i]!)) this.#note(name, i);
    }
  }

  #note(name: string, index: number): void {
    const list = this.#byName.get(name);
    if (list === undefined) this.#byName.set(name, [index]);
    else list.push(index);
  }

  /** Every call's index. */
  get all(): readonly number[] {
    this.#all ??= this.calls.map((_, i) => i);
    return this.#all;
  }

  /** Indices of the calls a selector means, in order. */
  indices(selector: Selector): readonly number[] {
    let found = this.#found.get(selector);
    if (found === undefined) {
      found = this.#find(selector);
      this.#found.set(selector, found);
    }
    return found;
  }

  /** The calls a selector cannot tell about: their arguments were not captured, or its pattern ran out of time. */
  unknown(selector: Selector): readonly number[] {
    this.indices(selector);
    return this.#unknown.get(selector) ?? [];
  }

  #find(selector: Selector): readonly number[] {
    const named = selector.exact === undefined ? this.#union(selector) : (this.#byName.get(selector.exact) ?? []);
    return selector.args === undefined ? named : named.filter((i) => this.#argumentsMatch(selector, i));
  }

  #union(selector: Selector): readonly number[] {
    const lists: number[][] = [];
    for (const [name, list] of this.#byName) if (selector.matchesName(name)) lists.push(list);
    if (lists.length === 1) return lists[0]!;
    return lists.length === this.#byName.size ? this.all : this.#marked(lists, 1);
  }

  /** The calls any of the selectors means, in order. */
  anyOf(selectors: readonly Selector[]): readonly number[] {
    const lists = selectors.map((selector) => this.indices(selector)).filter((list) => list.length > 0);
    return lists.length === 1 ? lists[0]! : this.#marked(lists, 1);
  }

  /** The calls none of the selectors means, in order. */
  noneOf(selectors: readonly Selector[]): readonly number[] {
    return this.#marked(
      selectors.map((selector) => this.indices(selector)),
      0,
    );
  }

  /** Marking and walking once costs less than sorting, and a call that is in two lists counts once. */
  #marked(lists: readonly (readonly number[])[], wanted: 0 | 1): number[] {
    const marks = new Uint8Array(this.calls.length);
    for (const list of lists) for (const i of list) marks[i] = 1;
    const found: number[] = [];
    for (let i = 0; i < marks.length; i++) if (marks[i] === wanted) found.push(i);
    return found;
  }

  #argumentsMatch(selector: Selector, i: number): boolean {
    const given = this.calls[i]!.args;
    if (given === undefined) {
      // Text that is not JSON has no arguments to look at; arguments that were not recorded may be anything.
      if (this.calls[i]!.argsRaw === undefined) this.#cannotTell(selector, i);
      return false;
    }
    if (!isObject(given)) return false;
    try {
      return selector.args!.every(({ name, regex }) => Object.hasOwn(given, name) && isFound(regex, given[name]));
    } catch (error) {
      if (!(error instanceof RegexTimeout)) throw error;
      this.#cannotTell(selector, i);
      return false;
    }
  }

  #cannotTell(selector: Selector, i: number): void {
    const list = this.#unknown.get(selector);
    if (list === undefined) this.#unknown.set(selector, [i]);
    else list.push(i);
  }
}

const isFound = (regex: Regex, value: unknown): boolean =>
  (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') && regex.test(String(value));
