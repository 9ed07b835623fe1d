import type { Draft } from './draft.ts';

/** Start and end of a run whose records only have write times. */
export function timeSpan(
  times: Iterable<number | undefined>,
): Pick<Draft, 'startedAt' | 'endedAt'> {
  let startedAt: number | undefined;
  let endedAt: number | undefined;
  for (const at of times) {
    if (at === undefined) continue;
    if (startedAt === undefined || at < startedAt) startedAt = at;
    if (endedAt === undefined || at > endedAt) endedAt = at;
  }
  return { startedAt, endedAt: startedAt === endedAt ? undefined : endedAt };
}
