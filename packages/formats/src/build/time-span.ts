import type { Draft } from './draft.ts';

/** When a run began and ended, where its records only say when they were written. */
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
