import type { RunResult } from '@agentci/results';
import { caseText } from '@agentci/results';
import { isPart, listRuns, readRun, type StoredRun, tracesOf } from '@agentci/run';
import { compareRuns } from '@agentci/run/baseline';
import type { Io } from '../cli/io.ts';
import type { OutputPlan } from './outputs.ts';

/** The target branch of a pull or merge request. Otherwise, on GitLab, the default branch. */
export function baseBranch({ env }: Pick<Io, 'env'>): string | undefined {
  const asked = env.GITHUB_BASE_REF?.trim() || env.CI_MERGE_REQUEST_TARGET_BRANCH_NAME?.trim();
  if (asked) return asked;
  const { CI_COMMIT_BRANCH: own, CI_DEFAULT_BRANCH: main } = env;
  return own && main && own !== main ? main : undefined;
}

/** A run to compare with, and its traces if stored. */
export interface RunBefore {
  readonly run: RunResult;
  readonly traces?: string;
}

/** The comparison data for reports. */
export async function comparedWith({ run: before, traces }: RunBefore, after: RunResult) {
  // Loaded on demand: the engine is not needed for other reports.
  const { beforeTools } = await import('./before-tools.ts');
  return {
    run: before,
    comparison: compareRuns({ before, after }),
    tools: traces === undefined ? undefined : await beforeTools(before, traces),
  };
}

const COMPARING = new Set(['markdown', 'html']);

/**
 * The newest stored run of all queries on the base branch. For a run of a few queries, only these
 * are compared, so that the others do not count as removed. Undefined if there is none or it is
 * unreadable.
 */
export async function comparedWithBase(
  after: RunResult,
  {
    root,
    plans,
    isPart: isFew,
    io,
  }: { root: string; plans: readonly OutputPlan[]; isPart: boolean; io: Io },
): Promise<{ before?: Awaited<ReturnType<typeof comparedWith>> }> {
  const branch = baseBranch(io);
  if (branch === undefined || !plans.some(({ reporter }) => COMPARING.has(reporter))) return {};
  const isBase = ({ id, header, finished }: StoredRun): boolean =>
    finished &&
    id !== after.run_id &&
    header.branch === branch &&
    header.agent === after.agent &&
    nameOf(header.spec.file) === nameOf(after.spec.file) &&
    !isPart(header);
  for (const { id } of listRuns(root).filter(isBase)) {
    try {
      const run = readRun(root, id);
      const own = new Set(after.results.map(caseText));
      const shared = isFew
        ? { ...run, results: run.results.filter((result) => own.has(caseText(result))) }
        : run;
      return { before: await comparedWith({ run: shared, ...tracesIn(root, id) }, after) };
    } catch {
      // An older run may be complete.
    }
  }
  return {};
}

/** Checkouts use different folders. */
const nameOf = (file: string): string => file.split(/[\\/]/).at(-1)!;

/** The recordings of a run from another machine may be stored elsewhere. */
function tracesIn(root: string, id: string): { traces?: string } {
  try {
    return { traces: tracesOf(root, id) };
  } catch {
    return {};
  }
}
