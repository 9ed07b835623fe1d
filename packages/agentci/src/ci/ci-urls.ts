import type { Io } from '../cli/io.ts';

/** The page of the CI job. */
export function jobUrl(env: Io['env']): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = env;
  if (server && repository && run)
    return `${withoutUser(server)}/${repository}/actions/runs/${run}`;
  const url = env.CI_JOB_URL || env.BUILDKITE_BUILD_URL || env.CIRCLE_BUILD_URL;
  return url ? withoutUser(url) : undefined;
}

/** Runners of one's own put credentials into addresses; reports and messages are read by others. */
const withoutUser = (url: string): string =>
  url.replace(/^([a-z][a-z\d+.-]*:[\\/]*)[^\\/?#]*@/i, '$1');

/** The page of a line of a file, from the root of the repository, at the commit that is tested. */
export function lineUrl(env: Io['env'], file: string, line: number): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_SHA: commit } = env;
  if (!server || !repository || !commit || file.startsWith('/') || file.startsWith('..'))
    return undefined;
  const path = file.split('/').map(encodeURIComponent).join('/');
  return `${withoutUser(server)}/${repository}/blob/${commit}/${path}#L${line}`;
}
