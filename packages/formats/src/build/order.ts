import type { DraftTool } from './draft.ts';
import { isKept, isTool, type Node, target } from './tree.ts';

interface Options {
  /** The replies came from a recording, so clocks say nothing about their order. */
  readonly isReplayed?: boolean | undefined;
}

/**
 * Orders steps by the conversation: parents before children, requests in sequence, a call after the
 * reply that requested it and before the request that repeats it. Clocks only order the rest, to
 * the microsecond; a step without a time follows the one before it. If a recording contradicts
 * itself, for example by reusing ids, its clocks decide there.
 */
export function inOrder(nodes: readonly Node[], options: Options = {}): Node[] {
  const needs = needsOf(nodes, options);
  const ordered = new Set<Node>();
  const begun = new Set<Node>();
  for (const next of byClock(nodes)) {
    const open = [next];
    for (let node = open.at(-1); node !== undefined; node = open.at(-1)) {
      const first = begun.has(node)
        ? []
        : (needs.get(node) ?? []).filter((needed) => !begun.has(needed));
      begun.add(node);
      if (first.length > 0) open.push(...first.toReversed());
      else ordered.add(open.pop()!);
    }
  }
  return [...ordered];
}

function byClock(nodes: readonly Node[]): Node[] {
  let latest = Number.NEGATIVE_INFINITY;
  const timed = nodes.map((node, index) => {
    const { t0 } = node.draft;
    const own = t0 === undefined ? undefined : Math.round(t0 * 1000);
    if (own !== undefined) latest = own;
    return { node, at: own ?? latest, index };
  });
  timed.sort((a, b) => {
    if (a.at === b.at) return a.index - b.index;
    return a.at < b.at ? -1 : 1;
  });
  return timed.map(({ node }) => node);
}

/** For each step, the steps that must come before it, whatever the clocks say. */
function needsOf(nodes: readonly Node[], { isReplayed = false }: Options): Map<Node, Node[]> {
  const needs = new Map<Node, Node[]>();
  const put = (earlier: Node | undefined, later: Node | undefined): void => {
    if (earlier === undefined || later === undefined || earlier === later) return;
    const known = needs.get(later);
    if (known === undefined) needs.set(later, [earlier]);
    else known.push(earlier);
  };
  const calls = callsByReply(nodes);
  for (const node of nodes) {
    if (node.parent !== undefined) {
      put(node.parent, node);
      put(target(node.parent), node);
    }
    if (node.repeatedIn !== undefined) put(node, target(node.repeatedIn));
  }
  for (const [reply, asked] of calls)
    for (const [i, call] of asked.entries()) {
      put(reply, call);
      let earlier = i - 1;
      while (earlier >= 0 && isSurelyBefore(call, asked[earlier]!)) earlier--;
      put(asked[earlier], call);
    }
  const requests = nodes
    .filter((node) => isKept(node) && node.draft.sequence !== undefined)
    .sort((a, b) => a.draft.sequence! - b.draft.sequence!);
  for (const [i, request] of requests.entries()) {
    const previous = requests[i - 1];
    put(previous, request);
    if (isReplayed && previous !== undefined)
      for (const call of calls.get(previous) ?? []) put(call, request);
  }
  return needs;
}

/** The calls that each reply asks for, in its order. */
function callsByReply(nodes: readonly Node[]): Map<Node, Node<DraftTool>[]> {
  const calls = new Map<Node, Node<DraftTool>[]>();
  for (const node of nodes) {
    if (!isTool(node) || !isKept(node) || node.requester === undefined) continue;
    const reply = target(node.requester);
    const known = calls.get(reply);
    if (known === undefined) calls.set(reply, [node]);
    else known.push(node);
  }
  for (const asked of calls.values()) asked.sort((a, b) => a.callIndex! - b.callIndex!);
  return calls;
}

/**
 * One ended before the other began, so the program runs the calls of a reply one by one in its own
 * order.
 */
const isSurelyBefore = ({ draft: a }: Node, { draft: b }: Node): boolean =>
  a.timing !== 'estimated' && a.t1 !== undefined && b.t0 !== undefined && a.t1 < b.t0;
