import { isFields } from '@agentci/trace';

/** Runs that someone put into one object under names of their own: `{first: RUN, second: RUN}`. Undefined for all else. */
export function namedRuns<T>(
  value: unknown,
  runOf: (value: unknown) => T | undefined,
): readonly (readonly [string, T])[] | undefined {
  if (!isFields(value)) return undefined;
  const runs: (readonly [string, T])[] = [];
  for (const [name, inner] of Object.entries(value)) {
    const run = runOf(inner);
    if (run === undefined) return undefined;
    runs.push([name, run]);
  }
  return runs.length === 0 ? undefined : runs;
}
