import type { AST } from '@eslint-community/regexpp';
import { areDisjoint, nodeRanges, withBothCases } from './char-ranges.ts';
import { isTextEdge, type ParsedRegex } from './regex-syntax.ts';

type Node = AST.Element;
type Flags = Pick<ParsedRegex, 'ignoreCase' | 'multiline' | 'dotAll'>;

/** At most `factor * n ** degree` steps over a text of n characters. */
export interface WorkBound {
  readonly factor: number;
  readonly degree: number;
}

/**
 * An upper bound on the steps of a backtracking engine, or undefined if none is proved.
 *
 * It counts, per start position, in how many ways each item can be left (`ways`) and the cost of
 * trying it (`work`). A repeat before a character that it cannot consume is left in one way only,
 * because giving back characters never helps. A repeat over something with more than one way is
 * exponential and has no bound.
 */
export function workBound(parsed: ParsedRegex): WorkBound | undefined {
  if (parsed.needsBacktracking || parsed.hasScopedFlags) return undefined;
  let total: WorkBound = ONE;
  let isAnchored = true;
  for (const option of parsed.options) {
    const items = flatten(option.elements);
    if (!isAtEdge(items[0], 'start', parsed)) isAnchored = false;
    const bound = sequenceBound(withoutOpenEnd(items), parsed);
    if (bound === undefined) return undefined;
    total = add(total, bound.work);
  }
  const whole = isAnchored ? total : times(total, N);
  // The cost of an open end, once, after the first success.
  const result = add(whole, N);
  return result.factor > 1e6 ? undefined : result;
}

/** The bound in steps for a text of this length. */
export const workFor = (bound: WorkBound, length: number): number =>
  bound.factor * (length + 1) ** bound.degree;

interface Bound {
  readonly ways: WorkBound;
  readonly work: WorkBound;
}

const ONE: WorkBound = { factor: 1, degree: 0 };
const N: WorkBound = { factor: 1, degree: 1 };
const add = (a: WorkBound, b: WorkBound): WorkBound => ({
  factor: a.factor + b.factor,
  degree: Math.max(a.degree, b.degree),
});
const times = (a: WorkBound, b: WorkBound): WorkBound => ({
  factor: a.factor * b.factor,
  degree: a.degree + b.degree,
});
const constant = (factor: number): WorkBound => ({ factor, degree: 0 });

/** Whether a node is the start or end of the whole text, unlike `^` and `$` with the `m` flag. */
const isAtEdge = (node: Node | undefined, kind: 'start' | 'end', flags: Flags): boolean =>
  node?.type === 'Assertion' &&
  (isTextEdge(node)
    ? (node.kind === 'lookbehind') === (kind === 'start')
    : node.kind === kind && !flags.multiline);

/** Removes plain groups, so that a repeat inside one is next to what follows the group. */
const flatten = (elements: readonly Node[]): Node[] =>
  elements.flatMap((node) =>
    (node.type === 'Group' || node.type === 'CapturingGroup') && node.alternatives.length === 1
      ? flatten(node.alternatives[0]!.elements)
      : [node],
  );

const isCharacter = (node: Node): boolean => node.type.startsWith('Character');

/** A repeat at the very end succeeds with its minimum count and never gives back more. */
function withoutOpenEnd(items: Node[]): Node[] {
  const last = items.at(-1);
  if (last?.type !== 'Quantifier' || !isCharacter(last.element)) return items;
  return [...items.slice(0, -1), { ...last, max: last.min }];
}

function sequenceBound(items: readonly Node[], flags: Flags): Bound | undefined {
  let ways = ONE;
  let work = ONE;
  for (let i = 0; i < items.length; i++) {
    const bound = nodeBound(items[i]!, flags);
    if (bound === undefined) return undefined;
    work = add(work, times(ways, bound.work));
    const next = items[i + 1];
    if (next !== undefined && stopsAt(items[i]!, next, flags)) {
      // The next item is tried at every position where the repeat can end, but passes its first
      // character at one only.
      work = add(work, times(ways, bound.ways));
    } else {
      ways = times(ways, bound.ways);
    }
  }
  return { ways, work };
}

function nodeBound(node: Node, flags: Flags): Bound | undefined {
  switch (node.type) {
    case 'Quantifier':
      return repeatBound(node, flags);
    case 'Group':
    case 'CapturingGroup': {
      let ways = constant(0);
      let work = ONE;
      for (const option of node.alternatives) {
        const bound = sequenceBound(flatten(option.elements), flags);
        if (bound === undefined) return undefined;
        ways = add(ways, bound.ways);
        work = add(work, bound.work);
      }
      return { ways, work };
    }
    default:
      return { ways: ONE, work: ONE };
  }
}

function repeatBound(node: AST.Quantifier, flags: Flags): Bound | undefined {
  const body = sequenceBound(flatten([node.element]), flags);
  if (body === undefined) return undefined;
  const isOneWay = body.ways.degree === 0 && body.ways.factor <= 1;
  if (isOneWay) {
    if (node.max === Infinity)
      return { ways: constantPlusN(node.min), work: times(constantPlusN(node.min), body.work) };
    return {
      ways: constant(node.max - node.min + 1),
      work: times(constant(Math.max(1, node.max)), body.work),
    };
  }
  if (node.max === Infinity || body.ways.degree > 0) return undefined;
  const paths = body.ways.factor ** node.max * (node.max + 1);
  if (!(paths <= 1e6)) return undefined;
  return { ways: constant(paths), work: times(constant(paths), body.work) };
}

const constantPlusN = (extra: number): WorkBound => ({ factor: 1 + extra, degree: 1 });

/** Whether `item` is a repeat and `next` must start with something it cannot consume. */
function stopsAt(item: Node, next: Node, flags: Flags): boolean {
  if (item.type !== 'Quantifier' || !isCharacter(item.element)) return false;
  if (next.type === 'Assertion') return isAtEdge(next, 'end', flags);
  if (next.type === 'Quantifier' && next.min === 0) return false;
  let consumed = nodeRanges(item.element, flags.dotAll);
  let needed = nodeRanges(next.type === 'Quantifier' ? next.element : next, flags.dotAll);
  if (consumed === undefined || needed === undefined) return false;
  if (flags.ignoreCase) {
    needed = withBothCases(needed);
    // If one side has no letters, case folding cannot matter.
    if (needed === undefined || needed.some(([lo, hi]) => hasAsciiLetter(lo, hi))) {
      consumed = withBothCases(consumed);
      if (consumed === undefined || needed === undefined) return false;
    }
  }
  return areDisjoint(consumed, needed);
}

const hasAsciiLetter = (lo: number, hi: number): boolean =>
  (lo <= 0x5a && hi >= 0x41) || (lo <= 0x7a && hi >= 0x61);
