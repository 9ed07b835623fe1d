import { UserError } from '@agentci/lib/problems';
import type { CaseName } from '@agentci/results';
import { listRuns, type StoredRun } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import { isRunOf } from '../stored-runs/spec-folders.ts';
import type { TestOptions } from './test-options.ts';

/**
 * `kept`: options that decide what is run and how it is judged. Stored with the run. A different
 * value is an error, because it would mix two runs. `replaceable`: limits, and how the rest runs,
 * which may be the reason to resume. A new value is stored and counts from here on. Flags can only
 * be added, so a run gets stricter but never more lenient. `settled`: selected queries at the
 * start. The selection is stored. `now`: affects only this command, such as its reports.
 */
type OnResume = 'kept' | 'replaceable' | 'settled' | 'now';

/** How each option behaves when a run is resumed. */
export const ON_RESUME: { readonly [K in keyof Required<TestOptions>]: OnResume } = {
  traces: 'kept',
  traceFormat: 'kept',
  tags: 'kept',
  filter: 'kept',
  ids: 'kept',
  cell: 'kept',
  shard: 'kept',
  weights: 'kept',
  runs: 'kept',
  seed: 'kept',
  cassette: 'kept',
  judge: 'kept',
  judgeCache: 'kept',
  sampleEnsemble: 'kept',
  auditUser: 'kept',
  baseline: 'kept',
  baselineDir: 'kept',
  strict: 'replaceable',
  failFast: 'replaceable',
  maxCost: 'replaceable',
  timeout: 'replaceable',
  retries: 'replaceable',
  workers: 'replaceable',
  queue: 'replaceable',
  queueRate: 'replaceable',
  queueTimeout: 'replaceable',
  failed: 'settled',
  failedFrom: 'settled',
  config: 'now',
  format: 'now',
  output: 'now',
  json: 'now',
  quiet: 'now',
  notifyOn: 'now',
  notifyTemplate: 'now',
  dryRun: 'now',
  watch: 'now',
  resume: 'now',
};

type Stored = Readonly<Record<string, unknown>>;

const NAMES = Object.keys(ON_RESUME) as (keyof TestOptions)[];

/** The subset of options stored with a run. */
export const storedOptions = (options: Partial<TestOptions> | Stored): Partial<TestOptions> =>
  only(options, ['kept', 'replaceable']);

const only = (
  options: Partial<TestOptions> | Stored,
  kinds: readonly OnResume[],
): Partial<TestOptions> =>
  Object.fromEntries(
    NAMES.filter((name) => kinds.includes(ON_RESUME[name]))
      .map((name) => [name, (options as Stored)[name]])
      .filter(([, value]) => value !== undefined),
  ) as Partial<TestOptions>;

/** The options of a resumed run: those of its start, and the replaceable ones. */
export function resumedOptions(given: TestOptions, { header }: StoredRun): TestOptions {
  const options = {
    ...given,
    ...storedOptions(header.started_with ?? {}),
    ...only(given, ['replaceable']),
  };
  return options.queue === NO_QUEUE ? withoutQueue(options) : options;
}

/** Queue value for a run that continues here. Its Redis may no longer exist. */
const NO_QUEUE = 'off';

const withoutQueue = ({
  queue: _,
  queueRate: __,
  queueTimeout: ___,
  ...options
}: TestOptions): TestOptions => options;

/** The cases that an unfinished run was limited to, beyond its options. */
export const casesOf = ({ header }: StoredRun): readonly CaseName[] | undefined =>
  header.started_with?.only as CaseName[] | undefined;

/** The unfinished run to continue. Rejects options that would change what it tests. */
export function resumable(root: string, suite: Suite, given: TestOptions): StoredRun {
  const [unfinished] = listRuns(root)
    .filter((run) => !run.finished && isRunOf(suite, run))
    .sort((a, b) => (a.age < b.age ? 1 : -1));
  if (!unfinished) {
    throw new UserError('RESUME_REFUSED', `--resume: ${suite.file} has no unfinished run here`, {
      hint: 'Run it without --resume.',
    });
  }
  if (unfinished.header.spec.hash !== suite.hash) {
    throw new UserError(
      'RESUME_REFUSED',
      `--resume: the spec has changed since run ${unfinished.id} was started`,
      {
        hint: 'Its results would belong to another spec: start a new run without --resume.',
      },
    );
  }
  if (unfinished.header.started_with === undefined)
    throw new UserError(
      'OPTIONS_CONFLICT',
      `--resume: run ${unfinished.id} does not say what it was started with`,
      {
        hint: 'It is of an older version. Start a new run without --resume.',
      },
    );
  const before = storedOptions(unfinished.header.started_with);
  const other = NAMES.filter((name) => ['kept', 'settled'].includes(ON_RESUME[name])).find(
    (name) =>
      given[name] !== undefined && JSON.stringify(given[name]) !== JSON.stringify(before[name]),
  );
  if (other === undefined) return unfinished;
  throw new UserError(
    'OPTIONS_CONFLICT',
    `--resume: run ${unfinished.id} was not started with this ${flagOf(other)}`,
    {
      hint: 'Leave it out to continue the run as it was started, or start a new run without --resume.',
    },
  );
}

const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
