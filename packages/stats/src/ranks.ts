/** Ranks from 1 and the sizes of ties. Tied values share their mean rank. */
export function midRanks(values: readonly number[]): {
  readonly ranks: number[];
  readonly ties: number[];
} {
  const order = [...values.keys()].sort((i, j) => values[i]! - values[j]!);
  const ranks = new Array<number>(values.length);
  const ties: number[] = [];
  for (let start = 0; start < order.length; ) {
    let end = start + 1;
    while (end < order.length && values[order[end]!] === values[order[start]!]) end++;
    for (let i = start; i < end; i++) ranks[order[i]!] = (start + 1 + end) / 2;
    if (end - start > 1) ties.push(end - start);
    start = end;
  }
  return { ranks, ties };
}
