import type { PageRun } from '@agentci/results';

/** Where changes usually go to. */
const BASES: ReadonlySet<string | undefined> = new Set(['main', 'master', 'trunk', 'develop']);

/**
 * The finished run before this one that a reader most likely compares with: of the same agent and spec, and of the same branch where there
 * is one, else of the base branch, else the newest. A shard is a part of a run, and has other queries than its neighbours.
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
