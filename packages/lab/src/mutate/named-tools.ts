import { isMatcher } from '@agentci/checks';
import { isObject } from '@agentci/lib/data';
import { compileGlob } from '@agentci/lib/regex';
import type { Aliases, Policy, Selector } from '@agentci/policy';
import { type CompiledRule, compileRules, NO_ALIASES } from '@agentci/policy';
import type { LayerBlock, Query } from '@agentci/spec';

/** A tool named in a check or policy, with arguments if the check includes them. */
export interface NamedTool {
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

const MAX_DEPTH = 16;

/**
 * The tools named in the checks and policies of a query, forbidden ones first. A pattern becomes a
 * matching name. Takes one name per list in turn, so that every rule is tried early.
 */
export function toolsNamedIn({ path, turns = [], policies = [] }: Query): NamedTool[] {
  const blocks = [path, ...turns.map((turn) => turn.path)].flatMap((block) => blocksIn(block));
  const forbidden = [...blocks.flatMap(forbiddenIn), ...policies.flatMap(forbiddenByPolicy)];
  const spokenOf = [...blocks.flatMap(expectedIn), ...policies.flatMap(constrainedByPolicy)];
  const named = new Map<string, NamedTool>();
  for (const tool of [...inTurns(forbidden), ...inTurns(spokenOf)])
    if (!named.has(tool.name)) named.set(tool.name, tool);
  return [...named.values()];
}

/** A block and those nested in combinators. */
function blocksIn(block: unknown, depth = 0): LayerBlock[] {
  if (!isObject(block) || depth > MAX_DEPTH) return [];
  const inside = [block.all, block.any, block.not].flatMap((one) =>
    Array.isArray(one) ? one : [one],
  );
  return [block, ...inside.flatMap((one) => blocksIn(one, depth + 1))];
}

type Lists = readonly (readonly NamedTool[])[];

function forbiddenIn({ forbidden_tools, forbidden_calls, not, rules }: LayerBlock): Lists {
  return [
    textsOf(forbidden_tools).flatMap(toolOf),
    entriesOf(forbidden_calls),
    ...blocksIn(not).flatMap(expectedIn),
    ...ruleLists(compiledRules(rules), NO_ALIASES),
  ];
}

function expectedIn(block: LayerBlock): Lists {
  const { expected_calls } = block;
  return [
    ...[block.expected_tools, block.expected_tool_sequence].map((list) =>
      textsOf(list).flatMap(toolOf),
    ),
    entriesOf(block.expected_tool_args),
    entriesOf(isObject(expected_calls) ? expected_calls.calls : expected_calls),
  ];
}

function forbiddenByPolicy({ deny, blocklist, rules, aliases }: Policy): Lists {
  return [
    ...[deny, blocklist].map((list) => list.flatMap(({ text }) => toolOf(text))),
    ...ruleLists(rules, aliases),
  ];
}

const constrainedByPolicy = ({ tools, toolGlobs }: Policy): Lists => [
  [...tools.keys(), ...toolGlobs.map(({ tool }) => tool.name)].flatMap(toolOf),
];

const ruleLists = (rules: readonly CompiledRule[], aliases: Aliases): Lists =>
  rules.map(({ selectors }) => selectors.flatMap((selector) => toolsOfSelector(selector, aliases)));

function toolsOfSelector({ exact, label, matchesName }: Selector, aliases: Aliases): NamedTool[] {
  const written = exact === undefined ? [label, ...(aliases.get(label) ?? [])] : [exact];
  return written.flatMap(toolOf).filter(({ name }) => matchesName(name));
}

/** Queries share inherited lists. */
const COMPILED = new WeakMap<object, readonly CompiledRule[]>();

function compiledRules(written: unknown): readonly CompiledRule[] {
  if (!Array.isArray(written) || written.length === 0) return [];
  const known = COMPILED.get(written) ?? compileRules(written).rules;
  COMPILED.set(written, known);
  return known;
}

const textsOf = (list: unknown): string[] =>
  Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];

/** Entries that are names, or maps with `tool` and `args`. */
const entriesOf = (list: unknown): NamedTool[] =>
  (Array.isArray(list) ? list : []).flatMap((entry: unknown) => {
    if (typeof entry === 'string') return toolOf(entry);
    if (!isObject(entry) || typeof entry.tool !== 'string') return [];
    const args = isObject(entry.args) ? exampleArguments(entry.args) : {};
    return toolOf(entry.tool).map((tool) =>
      Object.keys(args).length === 0 ? tool : { ...tool, args },
    );
  });

/** Arguments that meet the given constraints, if those have values. */
const exampleArguments = (asked: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(asked).flatMap(([key, value]) => {
      if (!isMatcher(value)) return [[key, value]];
      const { equals, one_of, oneOf, subset, tolerance } = value;
      const [first] = [
        equals,
        firstOf(one_of ?? oneOf),
        subset,
        isObject(tolerance) ? tolerance.value : undefined,
      ].filter((one) => one !== undefined);
      return first === undefined ? [] : [[key, first]];
    }),
  );

const firstOf = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);

/** The tool for a name or pattern. Empty if no plain name matches. */
function toolOf(written: string): NamedTool[] {
  const name = written.replace(/\*+/g, 'all').replace(/\?/g, 'x');
  return /^[\w.:/-]{1,128}$/.test(name) && compileGlob(written)(name) ? [{ name }] : [];
}

/** The first of every list, then the second of every list. */
function* inTurns(lists: Lists): Generator<NamedTool> {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  for (let i = 0; i < longest; i++)
    for (const list of lists) if (list[i] !== undefined) yield list[i]!;
}
