import { expect, test } from 'vitest';
import { ciJobOf } from './ci-run.ts';

test.each([
  {
    system: 'GitHub',
    env: { GITHUB_RUN_ID: '7', GITHUB_RUN_ATTEMPT: '2', GITHUB_JOB: 'agents', RUNNER_OS: 'Linux' },
    job: { run: 'GITHUB_RUN_ID 7', attempt: 2, name: 'agents Linux' },
  },
  {
    system: 'GitLab',
    env: { CI_PIPELINE_ID: '7', CI_JOB_ID: '901', CI_JOB_NAME: 'agents 1/3' },
    job: { run: 'CI_PIPELINE_ID 7', job: 901, name: 'agents 1/3' },
  },
  {
    system: 'Buildkite',
    env: { BUILDKITE_BUILD_ID: 'a-b', BUILDKITE_RETRY_COUNT: '0' },
    job: { run: 'BUILDKITE_BUILD_ID a-b', job: 0 },
  },
  {
    system: 'CircleCI',
    env: { CIRCLE_WORKFLOW_WORKSPACE_ID: 'c-d', CIRCLE_BUILD_NUM: '55' },
    job: { run: 'CIRCLE_WORKFLOW_WORKSPACE_ID c-d', job: 55 },
  },
  {
    system: 'a system whose attempt is not a number',
    env: { GITHUB_RUN_ID: '7', GITHUB_RUN_ATTEMPT: 'x' },
    job: { run: 'GITHUB_RUN_ID 7' },
  },
  { system: 'no CI system', env: { GITHUB_RUN_ID: '' }, job: undefined },
])('the job of a run of $system', ({ env, job }) => {
  expect(ciJobOf(env)).toEqual(job);
});
