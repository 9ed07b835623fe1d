import { isObject, present } from '@agentci/lib/data';
import { escapePattern } from '../../literal.ts';
import { type Block, type BlockValue, correctness, path } from '../../model.ts';
import type { Rule, RuleOutcome } from './rule.ts';

/** A name in an expression. In the source `*` and `?` are wildcards, and case is ignored. */
const nameTest = (pattern: string): string => {
  const regex = escapePattern(pattern).replaceAll('\\*', '.*').replaceAll('\\?', '.');
  return `c.name.matches(${JSON.stringify(`(?i)^${regex}$`)})`;
};

/** A name in a list of calls, ignoring case. `*` and `?` mean the same in both. */
const foldedName = (name: string): string =>
  name.replace(/[A-Za-z]/g, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
const BRACKET = { none: 'a "[" in a name is a wildcard here' };
/** Here the case of letters outside ASCII matters. */
const foldsOtherwise = (names: readonly string[]): string | undefined =>
  names.some((name) => /[^\0-\x7f]/.test(name))
    ? 'the case of letters outside of ASCII counts here in the name of a tool'
    : undefined;

interface Matcher {
  readonly pattern: string;
  readonly min?: number;
  readonly max?: number;
}

/** The tool that a value names, or the reason why it is more complex. */
function matcherOf(value: unknown): Matcher | { readonly none: string } {
  if (typeof value === 'string' && value !== '') return { pattern: value };
  if (!isObject(value)) return { none: 'it names no tool' };
  if (value.type !== undefined && value.type !== 'tool')
    return { none: 'only calls of tools are steps of that kind here' };
  const pattern = value.pattern ?? value.name;
  if (typeof pattern !== 'string' || pattern === '') return { none: 'it names no tool' };
  const { min, max } = value;
  return {
    pattern,
    min: typeof min === 'number' ? min : undefined,
    max: typeof max === 'number' ? max : undefined,
  };
}

function toolUsed(value: unknown, isInverse: boolean): RuleOutcome {
  const list = typeof value === 'string' ? [value] : value;
  if (Array.isArray(list)) {
    const names = list.filter((name) => typeof name === 'string' && name !== '') as string[];
    if (names.length === 0 || names.length < list.length)
      return { none: 'it needs names of tools' };
    // Without `not-` each must be used. With it, none may be.
    return {
      parts: [
        path({
          expr: names.map((name) => `${isInverse ? '!' : ''}calls.exists(c, ${nameTest(name)})`),
        }),
      ],
      isNegated: true,
    };
  }
  const matcher = matcherOf(value);
  if ('none' in matcher) return matcher;
  const { pattern, min = 1, max } = matcher;
  const size = `calls.filter(c, ${nameTest(pattern)}).size()`;
  return {
    parts: [path({ expr: `${size} >= ${min}${max === undefined ? '' : ` && ${size} <= ${max}`}` })],
  };
}

function toolSequence(value: unknown): RuleOutcome {
  const wrapped = isObject(value) ? value : { steps: value };
  const { steps, mode = 'in_order' } = wrapped as { steps?: unknown; mode?: unknown };
  if (!Array.isArray(steps) || steps.length === 0) return { none: 'it has no steps' };
  if (mode !== 'exact' && mode !== 'in_order')
    return { none: `the mode "${String(mode).slice(0, 40)}" is not known` };
  const names: string[] = [];
  for (const step of steps) {
    const matcher = matcherOf(step);
    if ('none' in matcher) return matcher;
    names.push(matcher.pattern);
  }
  if (names.some((name) => name.includes('['))) return BRACKET;
  const calls = names.map((name) => ({ tool: foldedName(name) }));
  return {
    parts: [path({ expected_calls: { mode, args: 'ignore', calls } })],
    close: foldsOtherwise(names),
  };
}

const MATCHERS = new Set(['equals', 'one_of', 'oneOf', 'regex', 'tolerance', 'subset', 'ignore']);
/** Escapes a value that looks like a matcher. */
const plainly = (value: unknown): BlockValue =>
  isObject(value) && Object.keys(value).some((key) => MATCHERS.has(key))
    ? ({ equals: value } as Block)
    : (value as BlockValue);

function toolArgs(value: unknown): RuleOutcome {
  if (!isObject(value)) return { none: 'it needs a tool and arguments' };
  const matcher = matcherOf(value);
  if ('none' in matcher) return matcher;
  if (value.defaults !== undefined || value.ignore !== undefined)
    return { none: '`defaults` and `ignore` of arguments are not carried' };
  const args = Object.hasOwn(value, 'args') ? value.args : value.arguments;
  if (!isObject(args)) return { none: 'arguments without names are not compared here' };
  const mode = value.mode ?? 'partial';
  if (mode !== 'partial' && mode !== 'exact')
    return { none: `the mode "${String(mode).slice(0, 40)}" is not known` };
  if (matcher.pattern.includes('[')) return BRACKET;
  const nested =
    mode === 'partial' &&
    Object.values(args).some((item) => typeof item === 'object' && item !== null);
  const wanted = Object.fromEntries(
    Object.entries(args).map(([key, item]) => [
      key,
      nested && isObject(item) ? ({ subset: item } as Block) : plainly(item),
    ]),
  );
  const call = { tool: foldedName(matcher.pattern), args: wanted as Block };
  const how = mode === 'exact' ? 'exact' : 'subset';
  return {
    parts: [path({ expected_calls: { mode: 'any_order', args: how, calls: [call] } })],
    close: nested
      ? 'lists inside of arguments are compared as a whole or as a part, not item by item'
      : foldsOtherwise([matcher.pattern]),
  };
}

function stepCount(value: unknown): RuleOutcome {
  const count = typeof value === 'number' ? { max: value } : value;
  if (!isObject(count)) return { none: 'it has neither min nor max' };
  if (count.type !== 'tool')
    return {
      none: 'only calls of tools are counted here: `max_llm_calls`, or `expr` over trace.steps',
    };
  const { min, max } = count;
  const pattern = count.pattern ?? count.name;
  const size =
    typeof pattern === 'string' ? `calls.filter(c, ${nameTest(pattern)}).size()` : 'size(calls)';
  const tests = present([
    typeof min === 'number' ? `${size} >= ${min}` : undefined,
    typeof max === 'number' ? `${size} <= ${max}` : undefined,
  ]);
  return tests.length === 0
    ? { none: 'it has neither min nor max' }
    : { parts: [path({ expr: tests.join(' && ') })] };
}

const FINISH: Readonly<Record<string, string>> = {
  stop: 'stop',
  length: 'length',
  content_filter: 'content_filter',
  tool_calls: 'tool_calls',
};

export const CALL_RULES: Readonly<Record<string, Rule>> = {
  'trajectory:tool-used': { read: ({ value, isInverse }) => toolUsed(value, isInverse) },
  'trajectory:tool-sequence': { read: ({ value }) => toolSequence(value) },
  'trajectory:tool-args-match': { read: ({ value }) => toolArgs(value) },
  'trajectory:step-count': { read: ({ value }) => stepCount(value) },
  'tool-call-f1': {
    isGraded: true,
    read: ({ value, assertion }) => {
      const names = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value;
      const min = assertion.threshold ?? 1;
      if (!Array.isArray(names) || names.length === 0 || typeof min !== 'number')
        return { none: 'it needs names of tools' };
      return {
        parts: [path({ expected_tools: names.map(String), min_tool_f1: min })],
        close:
          'promptfoo reads the calls from the text of the answer, but here they come from the trace',
      };
    },
  },
  'finish-reason': {
    read: ({ value }) => {
      const reason = typeof value === 'string' ? FINISH[value.toLowerCase()] : undefined;
      if (reason === undefined) return { none: 'that reason has another name here, or none' };
      return {
        parts: [correctness({ expr: `trace.finish == "${reason}"` })],
        close: 'a reason that was not recorded is an error here, and a failure there',
      };
    },
  },
  guardrails: {
    read: () => ({
      parts: [correctness({ expr: 'trace.steps.all(s, s.kind != "guardrail" || !s.triggered)' })],
      close: 'guardrails are steps of the trace here',
    }),
  },
};
