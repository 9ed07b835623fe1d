/** Rounds to four decimals, exact ties to even, so that scores equal those of Python programs. */
export function roundTo4(value: number): number {
  const nearest = Number(value.toFixed(4));
  const exact = value.toFixed(20);
  const dot = exact.indexOf('.');
  const isTie = /^50*$/.test(exact.slice(dot + 5));
  if (!isTie) return nearest;
  const down = Number(exact.slice(0, dot + 5));
  return Number(exact[dot + 4]) % 2 === 0 ? down : nearest;
}
