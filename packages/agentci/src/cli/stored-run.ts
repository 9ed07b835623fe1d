import { UserError } from '../kit/user-error.ts';
import { listRuns, type StoredRun } from '../store/stored-runs.ts';

/** The id of a stored run as someone names it: "latest", or no name at all, is the newest finished one, of one spec where `isOurs` says which. */
export function storedRunId(
  root: string,
  given = 'latest',
  { isOurs, spec }: { readonly isOurs?: (run: StoredRun) => boolean; readonly spec?: string } = {},
): string {
  if (given !== 'latest') return given;
  const newest = listRuns(root).find((run) => run.finished && (isOurs?.(run) ?? true));
  if (newest !== undefined) return newest.id;
  throw new UserError(
    'RUN_MISSING',
    `${spec === undefined ? 'nothing' : spec} has${spec === undefined ? '' : ' not'} been run here yet`,
    {
      hint: 'agentci test stores a run beside its spec; -c names the spec.',
    },
  );
}
