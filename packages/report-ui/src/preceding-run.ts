import type { PageRun } from '../../agentci/src/results/page-data.ts';

/** The finished run before this one, of the same agent, spec and branch: what a reader most likely compares with. */
export function precedingRun(runs: readonly PageRun[], id: string | undefined): string | undefined {
  const at = runs.findIndex((run) => run.id === id);
  const run = runs[at];
  if (run === undefined) return undefined;
  return runs
    .slice(at + 1)
    .find(
      (other) => other.finished && other.agent === run.agent && other.spec === run.spec && other.branch === run.branch,
    )?.id;
}
