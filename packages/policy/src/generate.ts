import { isObject } from '@agentci/lib/data';
import { isGlob } from '@agentci/lib/regex';
import { patternSlip } from '@agentci/lib/text';
import { type CallInput, type PolicyCall, toCalls } from './call.ts';
import type { ValueType } from './constraint.ts';

/** Text values become an enum only if there are few, each seen more than once on average. */
const MAX_ENUM = 8;
const MAX_ENUM_TEXT = 60;
const MIN_SEEN_EACH = 2;
/** In fewer traces, an order may be chance. */
const MIN_ORDER_TRACES = 2;
const MAX_TOOLS = 2000;
const MAX_ARGUMENTS = 500;

interface Seen {
  count: number;
  types: Set<ValueType>;
  min: number;
  max: number;
  /** Text values with their counts. Undefined if there are too many for an enum. */
  texts: Set<string> | undefined;
  items: Set<ValueType>;
}

interface ToolSeen {
  calls: number;
  withArguments: number;
  readonly args: Map<string, Seen>;
}

/**
 * Learns an initial policy from good traces. It allows everything seen, so it accepts every trace
 * it came from.
 */
export class PolicyLearner {
  readonly #tools = new Map<string, ToolSeen>();
  /**
   * By tool: the number of traces with a call, and the tools that preceded its first call in all of
   * them.
   */
  readonly #order = new Map<string, { traces: number; before: Set<string> }>();
  #traces = 0;
  #calls = 0;

  get calls(): number {
    return this.#calls;
  }

  add(inputs: readonly CallInput[]): void {
    const calls = toCalls(inputs);
    this.#traces++;
    this.#calls += calls.length;
    for (const call of calls) this.#learnCall(call);
    this.#learnOrder(calls);
  }

  /** The policy as YAML with counts as comments. */
  yaml(): string {
    const lines = [
      `# A starter policy learned from ${count(this.#traces, 'trace')} and ${count(this.#calls, 'tool call')}.`,
      '# Read it before you rely on it: a range that was seen is not always the range that is right.',
      this.#tools.size === 0 ? 'tools: {}' : 'tools:',
    ];
    for (const [name, tool] of sorted(this.#tools)) lines.push(...toolLines(name, tool));
    const rules = this.#rules();
    if (rules.length > 0) lines.push('', 'sequences:', ...rules);
    return `${lines.join('\n')}\n`;
  }

  #learnCall({ name, args }: PolicyCall): void {
    let tool = this.#tools.get(name);
    if (tool === undefined) {
      if (this.#tools.size >= MAX_TOOLS) return;
      tool = { calls: 0, withArguments: 0, args: new Map() };
      this.#tools.set(name, tool);
    }
    tool.calls++;
    if (!isObject(args)) return;
    tool.withArguments++;
    for (const [key, value] of Object.entries(args)) {
      let seen = tool.args.get(key);
      if (seen === undefined) {
        if (tool.args.size >= MAX_ARGUMENTS) continue;
        seen = {
          count: 0,
          types: new Set(),
          min: Number.POSITIVE_INFINITY,
          max: Number.NEGATIVE_INFINITY,
          texts: new Set(),
          items: new Set(),
        };
        tool.args.set(key, seen);
      }
      learnValue(seen, value);
    }
  }

  #learnOrder(calls: readonly PolicyCall[]): void {
    const earlier = new Set<string>();
    for (const { name } of calls) {
      if (earlier.has(name)) continue;
      const known = this.#order.get(name);
      if (known === undefined) {
        if (this.#order.size < MAX_TOOLS)
          this.#order.set(name, { traces: 1, before: new Set(earlier) });
      } else {
        known.traces++;
        for (const tool of known.before) if (!earlier.has(tool)) known.before.delete(tool);
      }
      earlier.add(name);
    }
  }

  /** Only the nearest predecessors. Earlier ones follow from their rules. */
  #rules(): string[] {
    const lines: string[] = [];
    for (const [then, { traces, before }] of sorted(this.#order)) {
      if (traces < MIN_ORDER_TRACES || !isOneName(then)) continue;
      const nearest = [...before].filter(
        (first) =>
          isOneName(first) &&
          ![...before].some((other) => this.#order.get(other)?.before.has(first)),
      );
      for (const first of nearest.sort()) {
        lines.push(`  # so in all ${count(traces, 'trace')} with ${commentText(then)}`);
        lines.push(`  - {type: before, first: ${text(first)}, then: ${text(then)}}`);
      }
    }
    return lines;
  }
}

function learnValue(seen: Seen, value: unknown): void {
  seen.count++;
  seen.types.add(typeOf(value));
  if (typeof value === 'number') {
    seen.min = Math.min(seen.min, value);
    seen.max = Math.max(seen.max, value);
  } else if (typeof value === 'string' && seen.texts !== undefined) {
    seen.texts.add(value);
    if (seen.texts.size > MAX_ENUM || value.length > MAX_ENUM_TEXT) seen.texts = undefined;
  } else if (Array.isArray(value)) for (const item of value) seen.items.add(typeOf(item));
}

function toolLines(name: string, tool: ToolSeen): string[] {
  const lines = [`  ${text(name)}: # ${count(tool.calls, 'call')}`];
  if (tool.args.size === 0)
    return [`  ${text(name)}: {} # ${count(tool.calls, 'call')}, no arguments seen`];
  lines.push('    arguments:');
  for (const [key, seen] of sorted(tool.args)) lines.push(...argumentLines(key, seen, tool));
  return lines;
}

function argumentLines(key: string, seen: Seen, tool: ToolSeen): string[] {
  const pad = '        ';
  const types = [...merged(seen.types)].sort();
  const lines = [
    `      ${text(key)}: # in ${seen.count} of ${count(tool.calls, 'call')}`,
    `${pad}type: ${types.length === 1 ? text(types[0]!) : `[${types.map(text).join(', ')}]`}`,
  ];
  // Calls with unrecorded arguments may or may not have had it.
  if (seen.count === tool.calls && tool.withArguments === tool.calls)
    lines.push(`${pad}required: true`);
  const [only] = types;
  if (types.length !== 1) return lines;
  if (only === 'number' || only === 'integer')
    lines.push(`${pad}min: ${seen.min}`, `${pad}max: ${seen.max}`);
  if (
    only === 'string' &&
    seen.texts !== undefined &&
    seen.count >= MIN_SEEN_EACH * seen.texts.size &&
    seen.count > 2
  )
    lines.push(
      `${pad}enum: [${[...seen.texts].sort().map(text).join(', ')}] # ${count(seen.texts.size, 'value')} in ${count(seen.count, 'call')}`,
    );
  const items = [...merged(seen.items)].sort();
  if (only === 'array' && items.length === 1) lines.push(`${pad}items: {type: ${text(items[0]!)}}`);
  return lines;
}

/** Integers are numbers too. */
function merged(types: ReadonlySet<ValueType>): Set<ValueType> {
  const kept = new Set(types);
  if (kept.has('number')) kept.delete('integer');
  return kept;
}

function typeOf(value: unknown): ValueType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'string' || typeof value === 'boolean') return typeof value as ValueType;
  return 'object';
}

/** A rule needs a tool name that is not a glob. */
const isOneName = (name: string): boolean =>
  !isGlob(name) && name.trim() !== '' && patternSlip(name) === undefined;

const BARE = /^[A-Za-z_][\w-]*$/;
const RESERVED = /^(?:true|false|null|yes|no|on|off|y|n|allow|deny)$/i;

/** Quotes a text for YAML if needed, as JSON, which is valid YAML. */
const text = (value: string): string =>
  BARE.test(value) && !RESERVED.test(value) ? value : JSON.stringify(value);

/** Names come from recordings. In a comment they must not end the line. */
const commentText = (value: string): string => (BARE.test(value) ? value : 'that tool');

const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;
const sorted = <V>(map: ReadonlyMap<string, V>): [string, V][] =>
  [...map].sort(([a], [b]) => (a < b ? -1 : 1));
