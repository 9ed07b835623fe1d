import { areDisjoint, nodeRanges, withBothCases } from './char-ranges.ts';
import type { ParsedRegex, RegexNode } from './regex-syntax.ts';

/** At most `factor * n ** degree` steps over a text of n characters. */
export interface WorkBound {
  readonly factor: number;
  readonly degree: number;
}

/**
 * An upper bound on the steps a backtracking engine can take to test a pattern, or undefined when none is proved.
 *
 * It counts, for one starting place, in how many ways each item can be left (`ways`) and what trying it costs (`work`).
 * A repeat followed by a character it cannot consume is left in one way only: giving characters back never helps.
 * A repeat over something with more than one way is exponential, so it has no bound here.
 */
export function workBound(parsed: ParsedRegex): WorkBound | undefined {
  if (parsed.needsBacktracking || parsed.hasScopedFold) return undefined;
  const options = topOptions(parsed.root);
  let total: WorkBound = ONE;
  let isAnchored = true;
  for (const option of options) {
    const items = flatten(option);
    const first = items[0];
    if (!(first?.t === 'assert' && first.kind === 'textStart')) isAnchored = false;
    const bound = sequenceBound(withoutOpenEnd(items), parsed.ignoreCase);
    if (bound === undefined) return undefined;
    total = add(total, bound.work);
  }
  const whole = isAnchored ? total : times(total, N);
  // What an open end consumes, once, after the first success.
  const result = add(whole, N);
  return result.factor > 1e6 ? undefined : result;
}

/** The bound for a text of this length, in steps. */
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

const topOptions = (root: RegexNode): readonly RegexNode[] =>
  root.t === 'alt' ? root.options : [root];

/** Opens groups that only group, so that a repeat inside one is seen beside what follows the group. */
function flatten(node: RegexNode): RegexNode[] {
  if (node.t === 'seq') return node.items.flatMap(flatten);
  if (node.t === 'group') return node.body.t === 'alt' ? [node.body] : flatten(node.body);
  return [node];
}

const isCharacter = (node: RegexNode): boolean =>
  node.t === 'char' || node.t === 'any' || node.t === 'set';

/** A repeat at the very end succeeds with its least count; the rest of it is never given back. */
function withoutOpenEnd(items: RegexNode[]): RegexNode[] {
  const last = items.at(-1);
  if (last?.t !== 'repeat' || !isCharacter(last.body)) return items;
  return [...items.slice(0, -1), { ...last, max: last.min }];
}

function sequenceBound(items: readonly RegexNode[], fold: boolean): Bound | undefined {
  let ways = ONE;
  let work = ONE;
  for (let i = 0; i < items.length; i++) {
    const bound = nodeBound(items[i]!, fold);
    if (bound === undefined) return undefined;
    work = add(work, times(ways, bound.work));
    const next = items[i + 1];
    if (next !== undefined && stopsAt(items[i]!, next, fold)) {
      // The next item is tried from every place the repeat can be left at, and gets past its first character from one.
      work = add(work, times(ways, bound.ways));
    } else {
      ways = times(ways, bound.ways);
    }
  }
  return { ways, work };
}

function nodeBound(node: RegexNode, fold: boolean): Bound | undefined {
  switch (node.t) {
    case 'char':
    case 'any':
    case 'set':
    case 'assert':
      return { ways: ONE, work: ONE };
    case 'alt': {
      let ways = constant(0);
      let work = ONE;
      for (const option of node.options) {
        const bound = sequenceBound(flatten(option), fold);
        if (bound === undefined) return undefined;
        ways = add(ways, bound.ways);
        work = add(work, bound.work);
      }
      return { ways, work };
    }
    case 'seq':
    case 'group':
      return sequenceBound(flatten(node), fold);
    case 'repeat':
      return repeatBound(node, fold);
    case 'look':
    case 'backref':
      return undefined;
  }
}

function repeatBound(node: RegexNode & { t: 'repeat' }, fold: boolean): Bound | undefined {
  const body = nodeBound(node.body, fold);
  if (body === undefined) return undefined;
  const isOneWay = body.ways.degree === 0 && body.ways.factor <= 1;
  if (isOneWay) {
    if (node.max === Number.POSITIVE_INFINITY)
      return { ways: constantPlusN(node.min), work: times(constantPlusN(node.min), body.work) };
    return {
      ways: constant(node.max - node.min + 1),
      work: times(constant(Math.max(1, node.max)), body.work),
    };
  }
  if (node.max === Number.POSITIVE_INFINITY || body.ways.degree > 0) return undefined;
  const paths = body.ways.factor ** node.max * (node.max + 1);
  if (!(paths <= 1e6)) return undefined;
  return { ways: constant(paths), work: times(constant(paths), body.work) };
}

const constantPlusN = (extra: number): WorkBound => ({ factor: 1 + extra, degree: 1 });

/** `item` is a repeat and `next` must begin with something the repeat cannot consume. */
function stopsAt(item: RegexNode, next: RegexNode, fold: boolean): boolean {
  if (item.t !== 'repeat' || !isCharacter(item.body)) return false;
  if (next.t === 'assert') return next.kind === 'textEnd';
  let start: RegexNode | undefined;
  if (next.t === 'repeat') start = next.min >= 1 ? next.body : undefined;
  else start = next;
  if (start === undefined) return false;
  let consumed = nodeRanges(item.body);
  let needed = nodeRanges(start);
  if (consumed === undefined || needed === undefined) return false;
  if (fold) {
    needed = withBothCases(needed);
    // One side free of letters is enough: folding then cannot carry a character over.
    if (needed === undefined || needed.some(([lo, hi]) => hasAsciiLetter(lo, hi))) {
      consumed = withBothCases(consumed);
      if (consumed === undefined || needed === undefined) return false;
    }
  }
  return areDisjoint(consumed, needed);
}

const hasAsciiLetter = (lo: number, hi: number): boolean =>
  (lo <= 0x5a && hi >= 0x41) || (lo <= 0x7a && hi >= 0x61);
