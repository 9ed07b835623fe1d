import { UserError } from '../kit/user-error.ts';
import { listRuns } from '../store/stored-runs.ts';

/** The id of a stored run as someone names it: "latest", or no name at all, is the newest finished one. */
export function storedRunId(root: string, given = 'latest'): string {
  if (given !== 'latest') return given;
  const newest = listRuns(root).find((run) => run.finished);
  if (newest !== undefined) return newest.id;
  throw new UserError('RUN_MISSING', 'nothing has been run here yet', {
    hint: 'agentci test stores a run beside its spec; -c names the spec.',
  });
}
