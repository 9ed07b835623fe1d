import { isFields } from '@agentci/trace';

/**
 * Runs in one object under arbitrary names: `{first: RUN, second: RUN}`. Undefined for anything
 * else.
 */
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
