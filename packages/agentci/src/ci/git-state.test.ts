import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { gitState } from './git-state.ts';

const COMMIT = 'a'.repeat(40);
const OTHER = 'b'.repeat(40);

test.each([
  {
    what: 'Buildkite without a commit',
    env: { BUILDKITE_COMMIT: 'HEAD', BUILDKITE_BRANCH: 'main' },
    branch: 'main',
  },
  { what: 'a tag on GitHub', env: { GITHUB_REF_NAME: 'v1', GITHUB_REF_TYPE: 'tag' } },
  { what: 'a tag on GitLab', env: { CI_COMMIT_REF_NAME: 'v1', CI_COMMIT_TAG: 'v1' } },
  { what: 'a tag on Buildkite', env: { BUILDKITE_BRANCH: 'v1', BUILDKITE_TAG: 'v1' } },
  {
    what: 'a branch on GitHub',
    env: { GITHUB_REF_NAME: 'fix', GITHUB_REF_TYPE: 'branch' },
    branch: 'fix',
  },
  {
    what: 'a branch by hand in a build of a tag',
    env: { AGENTCI_BRANCH: 'main', GITHUB_REF_NAME: 'v1', GITHUB_REF_TYPE: 'tag' },
    branch: 'main',
  },
  { what: 'a commit of CI', env: { CI_COMMIT_SHA: OTHER }, commit: OTHER },
  { what: 'the first digits of a commit', env: { AGENTCI_COMMIT: 'abc1234' }, commit: 'abc1234' },
])('$what: the branch is $branch', ({ env, branch, commit = COMMIT }) => {
  const detached = tempDir({ '.git/HEAD': `${COMMIT}\n` });
  expect(gitState(detached, { env })).toEqual({
    commit,
    ...(branch === undefined ? {} : { branch }),
  });
});
