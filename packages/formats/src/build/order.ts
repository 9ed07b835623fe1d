import type { Node } from './tree.ts';

/**
 * Puts steps in the order they started, to the microsecond. What has no time comes right behind what was before it.
 * Calls of one message that started together are in the order of the message: clocks tie, and exporters write spans as
 * they end. The rest of a tie stays as it is, parents before children.
 */
export function inTimeOrder(nodes: readonly Node[]): Node[] {
  let latest = Number.NEGATIVE_INFINITY;
  const timed = nodes.map((node, index) => {
    const { t0 } = node.draft;
    const own = t0 === undefined ? undefined : Math.round(t0 * 1000);
    if (own !== undefined) latest = own;
    return { node, at: own ?? latest, index };
  });
  timed.sort((a, b) => {
    if (a.at === b.at) return a.index - b.index;
    if (a.at < b.at) return -1;
    return 1;
  });
  const ordered = timed.map(({ node }) => node);
  let known: ReadonlyMap<Node, number> | undefined;
  // Few runs have ties, and replies keep their places.
  const rank = (node: Node): number | undefined => {
    known ??= new Map(
      ordered.flatMap((one, i) => (one.draft.kind === 'llm' ? [[one, i] as const] : [])),
    );
    return known.get(node);
  };
  for (let start = 0; start < timed.length; ) {
    let end = start + 1;
    while (end < timed.length && timed[end]!.at === timed[start]!.at) end++;
    if (end - start > 1) orderCalls(ordered, { start, end, rank });
    start = end;
  }
  return ordered;
}

/** Within a tie, calls that were requested take the places they have together in the order they were asked. */
function orderCalls(
  nodes: Node[],
  { start, end, rank }: { start: number; end: number; rank: (node: Node) => number | undefined },
): void {
  const places: number[] = [];
  for (let i = start; i < end; i++) if (nodes[i]!.callIndex !== undefined) places.push(i);
  if (places.length < 2) return;
  const calls = places.map((i) => nodes[i]!);
  const asked = (node: Node): number =>
    node.requester === undefined ? -1 : (rank(node.requester) ?? -1);
  calls.sort((a, b) => asked(a) - asked(b) || a.callIndex! - b.callIndex!);
  for (const [i, place] of places.entries()) nodes[place] = calls[i]!;
}
