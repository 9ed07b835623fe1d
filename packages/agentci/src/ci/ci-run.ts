import { sha256Hex } from '@agentci/lib/data';
import type { CiJob } from '@agentci/run';
import type { Io } from '../cli/io.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Variables that identify a CI run and keep their value if jobs are restarted. Each comes with the
 * attempt number, or a job number that grows.
 */
const CI_RUN: readonly {
  readonly run: string;
  readonly attempt?: string;
  readonly job?: string;
  /** Identifies the job across attempts. */
  readonly name: readonly string[];
}[] = [
  { run: 'GITHUB_RUN_ID', attempt: 'GITHUB_RUN_ATTEMPT', name: ['GITHUB_JOB', 'RUNNER_OS'] },
  { run: 'CI_PIPELINE_ID', job: 'CI_JOB_ID', name: ['CI_JOB_NAME'] },
  { run: 'BUILDKITE_BUILD_ID', job: 'BUILDKITE_RETRY_COUNT', name: ['BUILDKITE_STEP_ID'] },
  { run: 'CIRCLE_WORKFLOW_WORKSPACE_ID', job: 'CIRCLE_BUILD_NUM', name: ['CIRCLE_JOB'] },
];

/** The CI run of this process. Undefined outside CI. */
export const ciRunOf = (env: Env): string | undefined => ciJobOf(env)?.run;

/** Like `ciRunOf`, plus the job name and the order of its attempts. */
export function ciJobOf(env: Env, host?: string): CiJob | undefined {
  const names = CI_RUN.find(({ run }) => env[run]);
  if (names === undefined) return undefined;
  const numberIn = (name: string | undefined): number | undefined => {
    const text = name === undefined ? '' : (env[name] ?? '');
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  return {
    run: `${names.run} ${env[names.run]}`,
    attempt: numberIn(names.attempt),
    job: numberIn(names.job),
    name: names.name.flatMap((name) => env[name] ?? []).join(' ') || undefined,
    machine: host === undefined ? undefined : sha256Hex(host).slice(0, 8),
  };
}

/** URL of the CI job. */
export function jobUrl(env: Io['env']): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = env;
  if (server && repository && run)
    return `${withoutUser(server)}/${repository}/actions/runs/${run}`;
  const url = env.CI_JOB_URL || env.BUILDKITE_BUILD_URL || env.CIRCLE_BUILD_URL;
  return url ? withoutUser(url) : undefined;
}

/** Self-hosted runners put credentials into URLs, and other people read reports and messages. */
const withoutUser = (url: string): string =>
  url.replace(/^([a-z][a-z\d+.-]*:[\\/]*)[^\\/?#]*@/i, '$1');

/** URL of a line in a file (relative to the repository root) at the tested commit. */
export function lineUrl(env: Io['env'], file: string, line: number): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_SHA: commit } = env;
  if (!server || !repository || !commit || file.startsWith('/') || file.startsWith('..'))
    return undefined;
  const path = file.split('/').map(encodeURIComponent).join('/');
  return `${withoutUser(server)}/${repository}/blob/${commit}/${path}#L${line}`;
}
