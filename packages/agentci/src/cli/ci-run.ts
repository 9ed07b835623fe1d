/** Variables that name a run of a CI system, and keep their value when some of its jobs are started again. */
const CI_RUN = ['GITHUB_RUN_ID', 'CI_PIPELINE_ID', 'BUILDKITE_BUILD_ID', 'CIRCLE_WORKFLOW_WORKSPACE_ID'];

/** The CI run this process is a job of; undefined elsewhere. */
export function ciRunOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const name = CI_RUN.find((each) => env[each]);
  return name && `${name} ${env[name]}`;
}
