import type { Evidence } from './run-result.ts';

/** The first pieces of evidence. The last one counts the rest. */
export function firstEvidence(all: readonly Evidence[], most: number): Evidence[] {
  const rest = all.slice(most);
  return withMore(
    all.slice(0, most),
    rest.reduce((sum, { more = 0 }) => sum + 1 + more, 0),
  );
}

/** Adds the number of unlisted items. */
export function withMore(shown: readonly Evidence[], more: number): Evidence[] {
  const last = shown.at(-1);
  return more === 0 || last === undefined
    ? [...shown]
    : [...shown.slice(0, -1), { ...last, more: more + (last.more ?? 0) }];
}
