import { UserError } from '../kit/user-error.ts';
import { isPart, listRuns, type StoredRun } from '../store/stored-runs.ts';

type RunTest = (run: StoredRun) => boolean;

/** Which run "latest" is. */
interface LatestOptions {
  /** Of one spec. */
  readonly isOurs?: RunTest;
  readonly spec?: string;
  /** What is checked out: runs on other branches count only where there is none on this one. */
  readonly branch?: string | undefined;
  /** What is chosen now: a run of all queries has it, and one with the same choice. Without it, any run counts. */
  readonly selection?: Readonly<Record<string, unknown>>;
}

/** The id of a stored run as someone names it: "latest", or no name at all, is the newest finished one that fits. */
export function storedRunId(root: string, given = 'latest', options: LatestOptions = {}): string {
  if (given !== 'latest') return given;
  const { isOurs = () => true, spec, branch, selection } = options;
  const isHere = onBranch(root, (run) => run.finished && isOurs(run), branch);
  const runs = listRuns(root).filter((run) => run.finished && isHere(run));
  const fits = selection === undefined ? undefined : runs.find((run) => hasSelection(run, selection));
  const newest = fits ?? runs[0];
  if (newest !== undefined) return newest.id;
  throw new UserError(
    'RUN_MISSING',
    `${spec === undefined ? 'nothing' : spec} has${spec === undefined ? '' : ' not'} been run here yet`,
    {
      hint: 'agentci test stores a run beside its spec; -c names the spec.',
    },
  );
}

/** Narrows a test of runs to those on a branch. Runs that do not say theirs count; without a run on the branch, all do. */
export function onBranch(root: string, isOurs: RunTest, branch: string | undefined): RunTest {
  if (branch === undefined) return isOurs;
  const isThere: RunTest = (run) => isOurs(run) && (run.header.branch ?? branch) === branch;
  return listRuns(root).some(isThere) ? isThere : isOurs;
}

const CHOICES = ['ids', 'only', 'tags', 'filter', 'cell', 'shard'];

function hasSelection({ header }: StoredRun, selection: Readonly<Record<string, unknown>>): boolean {
  const { started_with: chosen = {} } = header;
  return !isPart(header) || CHOICES.every((name) => JSON.stringify(chosen[name]) === JSON.stringify(selection[name]));
}
