import type { PageRun } from '@agentci/results';

/** Usual base branches. */
const BASES: ReadonlySet<string | undefined> = new Set(['main', 'master', 'trunk', 'develop']);

/**
 * The most likely finished run to compare with: same agent and spec, on the same branch if it has
 * one, else the base branch, else the newest. Shards are excluded because they have different
 * queries.
 */
export function precedingRun(runs: readonly PageRun[], id: string | undefined): string | undefined {
  const at = runs.findIndex((run) => run.id === id);
  const run = runs[at];
  if (run === undefined) return undefined;
  const others = runs
    .slice(at + 1)
    .filter(
      (other) =>
        other.finished && !other.shard && other.agent === run.agent && other.spec === run.spec,
    );
  const found =
    others.find(({ branch }) => branch === run.branch) ??
    others.find(({ branch }) => BASES.has(branch)) ??
    others[0];
  return found?.id;
}
