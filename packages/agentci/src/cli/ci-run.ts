import { defined } from '../kit/defined.ts';
import type { CiJob } from '../store/shard-file.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Variables that name a run of a CI system, and keep their value when some of its jobs are started again; with them, what tells such a job
 * from its earlier attempts: the number of the attempt, or one of the job that grows.
 */
const CI_RUN: readonly { readonly run: string; readonly attempt?: string; readonly job?: string }[] = [
  { run: 'GITHUB_RUN_ID', attempt: 'GITHUB_RUN_ATTEMPT' },
  { run: 'CI_PIPELINE_ID', job: 'CI_JOB_ID' },
  { run: 'BUILDKITE_BUILD_ID', job: 'BUILDKITE_RETRY_COUNT' },
  { run: 'CIRCLE_WORKFLOW_WORKSPACE_ID', job: 'CIRCLE_BUILD_NUM' },
];

/** The CI run this process is a job of; undefined elsewhere. */
export const ciRunOf = (env: Env): string | undefined => ciJobOf(env)?.run;

/** The same, with what orders the attempts of the job. */
export function ciJobOf(env: Env): CiJob | undefined {
  const names = CI_RUN.find(({ run }) => env[run]);
  if (names === undefined) return undefined;
  const numberIn = (name: string | undefined): number | undefined => {
    const text = name === undefined ? '' : (env[name] ?? '');
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  return {
    run: `${names.run} ${env[names.run]}`,
    ...defined({ attempt: numberIn(names.attempt), job: numberIn(names.job) }),
  };
}
