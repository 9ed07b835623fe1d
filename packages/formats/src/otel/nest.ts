import type { Span } from './span.ts';

/**
 * Infers parents of spans without ids from times: a span lies inside the smallest enclosing one.
 * Spans are written when they end, so of two with the same time the later one is the outer one.
 */
export function nested(spans: readonly Span[]): Span[] {
  if (spans.some(({ id }) => id !== undefined)) return [...spans];
  const order = spans.map((_, i) => i);
  order.sort(
    (a, b) => start(spans[a]!) - start(spans[b]!) || end(spans[b]!) - end(spans[a]!) || b - a,
  );
  const parents = new Map<number, number>();
  const open: number[] = [];
  for (const i of order) {
    while (open.length > 0 && end(spans[open.at(-1)!]!) < end(spans[i]!)) open.pop();
    const outer = open.at(-1);
    if (outer !== undefined && spans[i]!.t0 !== undefined) parents.set(i, outer);
    open.push(i);
  }
  return spans.map((span, i) => {
    const parent = parents.get(i);
    return {
      ...span,
      id: `span-${i + 1}`,
      parent: parent === undefined ? span.parent : `span-${parent + 1}`,
    };
  });
}

const start = ({ t0 }: Span): number => t0 ?? Number.POSITIVE_INFINITY;
const end = ({ t0, t1 }: Span): number => t1 ?? t0 ?? Number.NEGATIVE_INFINITY;
