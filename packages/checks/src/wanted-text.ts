import { judgeThreshold, resolveRubric, type WrittenRubric } from '@agentci/judge';
import { formatMs, formatUsd } from '@agentci/lib/numbers';
import { formatCount } from '@agentci/lib/text';
import { clip, listed, number, plural, quoted, shortJson } from './words.ts';

type Words = (params: never, siblings: Readonly<Record<string, unknown>>) => string;

const MAX_RULE = 300;

/** A list of texts, or one text. */
const texts = (params: unknown): string[] =>
  (Array.isArray(params) ? params : [params]).map(String);
const tools = (names: readonly string[]): string => listed(names.map((name) => String(name)));
const between = ({ min, max }: { min?: number; max?: number }): string =>
  [
    min === undefined ? '' : `at least ${number(min)}`,
    max === undefined ? '' : `at most ${number(max)}`,
  ]
    .filter(Boolean)
    .join(' and ');
const atLeast =
  (what: string): Words =>
  (min: number) =>
    `${what} of at least ${number(min)}`;
const upTo =
  (one: string, many?: string): Words =>
  (max: number) =>
    max === 0 ? `No ${many ?? `${one}s`}` : `At most ${plural(max, one, many)}`;

/** A readable call: `search(query: "x")`. */
function callText({ tool, args }: { readonly tool?: unknown; readonly args?: unknown }): string {
  if (typeof args !== 'object' || args === null) return String(tool);
  const named = Object.entries(args).map(([name, value]) => `${name}: ${shortJson(value)}`);
  return `${String(tool)}(${clip(named.join(', '), MAX_RULE)})`;
}

/** A policy rule in words: `before: first check, then refund`. */
function ruleText(rule: Readonly<Record<string, unknown>>): string {
  const { type, ...rest } = rule;
  const parts = Object.entries(rest)
    .filter(([key]) => key !== 'id' && key !== 'description')
    .map(([key, value]) => {
      let text: string;
      if (Array.isArray(value)) text = texts(value).join(', ');
      else if (typeof value === 'object') text = shortJson(value);
      else text = String(value);
      return `${key} ${text}`;
    });
  return `${String(type)}${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
}

/** The checks of a block in words. */
const blockText = (block: Readonly<Record<string, unknown>>): string =>
  Object.entries(block)
    .filter(([key]) => key in WORDS)
    .map(([key, params]) => wantedText(key, params, block) ?? key)
    .join('; ');

const blocksText = (blocks: unknown): string =>
  (Array.isArray(blocks) ? blocks : [blocks])
    .map((block) => `(${blockText(block as Record<string, unknown>)})`)
    .join(' ');

/** A rubric: its rule and its passing score. */
export function rubricWanted(written: WrittenRubric): string {
  const { rule, threshold } = resolveRubric(written);
  return `A judge's score of at least ${judgeThreshold(threshold)} of 5 for: ${clip(rule, MAX_RULE)}`;
}

const rubrics: Words = (params: WrittenRubric | readonly WrittenRubric[]) =>
  (Array.isArray(params) ? params : [params]).map(rubricWanted).join('; ');

const calls = (mode: string): string =>
  ({
    exact: 'These calls in this order and no others',
    unordered: 'These calls in any order and no others',
    in_order: 'These calls in this order, others allowed',
    any_order: 'These calls in any order, others allowed',
    only: 'No calls but these',
  })[mode] ?? mode;

/** The expectation of each key in words. A test fails for a key without an entry. */
const WORDS: Readonly<Record<string, Words>> = {
  expected_in_answer: (terms: string[]) =>
    `The answer contains all of ${listed(terms.map(quoted))}`,
  any_expected_in_answer: (terms: string[]) =>
    `The answer contains at least one of ${listed(terms.map(quoted))}`,
  not_in_answer: (terms: string[]) => `The answer contains none of ${listed(terms.map(quoted))}`,
  exact_match: (text: string) => `The answer is exactly ${quoted(text)}`,
  regex_match: (pattern: string) => `The answer matches the pattern ${clip(pattern)}`,
  starts_with: (text: string) => `The answer starts with ${quoted(text)}`,
  is_json: () => 'The answer is JSON',
  contains_json: (params: true | { schema: unknown }) =>
    params === true
      ? 'The answer contains JSON'
      : `The answer contains JSON that conforms to the schema ${shortJson(params.schema)}`,
  json_schema: (schema: unknown) =>
    `The answer is JSON that conforms to the schema ${shortJson(schema)}`,
  length: ({ unit = 'chars', ...bounds }: { unit?: string; min?: number; max?: number }) =>
    `An answer of ${between(bounds)} ${unit === 'chars' ? 'characters' : unit}`,
  similarity: ({ to, min, method = 'embedding' }: { to: string; min: number; method?: string }) =>
    `A similarity (${method}) of at least ${number(min)} to ${quoted(to)}`,
  outcome: ({
    name,
    equals,
    ...bounds
  }: {
    name: string;
    equals?: unknown;
    min?: number;
    max?: number;
  }) =>
    `The recorded outcome ${name} is ${equals === undefined ? between(bounds) : String(equals)}`,
  llm_judge: rubrics,
  safety_check: rubrics,
  hallucination_check: rubrics,
  expected_tools: (names: string[]) =>
    names.length === 0 ? 'No tool calls' : `Calls of the tools ${tools(names)}`,
  expected_tool_sequence: (names: string[]) =>
    `Calls of the tools ${names.map((name) => clip(name)).join(', then ')}, in this order`,
  expected_calls: ({
    mode = 'in_order',
    calls: list,
    min,
  }: {
    mode?: string;
    calls: object[];
    min?: number;
  }) =>
    `${calls(mode)}: ${listed(list.map(callText))}${min === undefined || min === 1 ? '' : `, with a score of at least ${number(min)}`}`,
  expected_tool_args: (entries: object[]) =>
    `Calls with these arguments: ${listed(entries.map(callText))}`,
  forbidden_calls: (entries: object[]) => `No calls like ${listed(entries.map(callText))}`,
  forbidden_tools: (names: string[]) => `No calls of the tools ${tools(names)}`,
  expected_handoff: (agent: string) => `A handoff to ${clip(agent)}`,
  expected_handoffs_available: (agents: string[]) => `Handoffs available to ${tools(agents)}`,
  match_mode: (mode: string) => `The tool calls of the baseline (${mode})`,
  max_handoff_count: upTo('handoff'),
  max_identical_calls: (max: number) => `At most ${plural(max, 'identical call')}`,
  max_loops: upTo('loop'),
  loops: ({ by = 'tool', cycle = 2, max = 0 }: { by?: string; cycle?: number; max?: number }) =>
    `${max === 0 ? 'No repetitions' : `At most ${plural(max, 'repetition')}`} of cycles of up to ${cycle} ${by === 'tool' ? 'tools' : 'calls'}`,
  max_tool_calls: upTo('tool call'),
  max_tool_errors: upTo('failed tool call'),
  min_sequence_similarity: atLeast('A similarity of the tool sequence'),
  min_tool_f1: atLeast('A tool F1'),
  min_tool_precision: atLeast('A tool precision'),
  min_tool_recall: atLeast('A tool recall'),
  rules: (rules: Record<string, unknown>[]) => `The rules ${listed(rules.map(ruleText))}`,
  max_cost_multiplier: (max: number) => `At most ${number(max)} × the cost of the baseline`,
  max_cost_usd: (max: number) => `A cost of at most ${formatUsd(max)}`,
  max_latency_ms: (max: number) => `A latency of at most ${formatMs(max)}`,
  max_llm_calls: upTo('model call'),
  max_total_tokens: (max: number) => `At most ${formatCount(max)} tokens`,
  all: (blocks: unknown) => `All of ${blocksText(blocks)}`,
  any: (blocks: unknown) => `At least one of ${blocksText(blocks)}`,
  not: (block: unknown) => `Not ${blocksText(block)}`,
  expr: (expressions: unknown) => `An expression that is true: ${listed(texts(expressions))}`,
  code: (entries: unknown) =>
    `A pass from ${listed((Array.isArray(entries) ? entries : [entries]).map(({ module, command }) => texts(module ?? command ?? 'code').join(' ')))}`,
};

/**
 * A key's expectation in words for these parameters. Undefined for a custom key or invalid
 * parameters.
 */
export function wantedText(
  key: string,
  params: unknown,
  siblings: Readonly<Record<string, unknown>> = {},
): string | undefined {
  if (!Object.hasOwn(WORDS, key)) return undefined;
  try {
    return WORDS[key]!(params as never, siblings);
  } catch {
    // A description must never change a verdict.
    return undefined;
  }
}
