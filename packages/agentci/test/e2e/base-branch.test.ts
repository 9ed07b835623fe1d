import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const ids = Array.from({ length: 4 }, (_, i) => `q${i + 1}`);
const answers = (wrong: string | undefined): string =>
  ids
    .map((id) => JSON.stringify({ id, query: `ask ${id}`, answer: id === wrong ? 'no' : 'yes' }))
    .join('\n');
const project = (): string =>
  tempDir({
    'agentci_spec.yaml': `version: 1\nagent: x\ndefaults:\n  correctness: {expected_in_answer: [yes]}\nqueries:\n${ids
      .map((id) => `  - {id: ${id}, query: "ask ${id}", tags: [${id === 'q1' ? 'few' : 'all'}]}`)
      .join('\n')}\n`,
    'good.jsonl': answers(undefined),
    'bad.jsonl': answers('q2'),
  });

const GITHUB = { GITHUB_BASE_REF: 'main', GITHUB_HEAD_REF: 'topic' };
const GITLAB = { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main', CI_COMMIT_REF_NAME: 'topic' };
const GITLAB_BRANCH = {
  CI_DEFAULT_BRANCH: 'main',
  CI_COMMIT_BRANCH: 'topic',
  CI_COMMIT_REF_NAME: 'topic',
};

test.each([
  { what: 'a pull request on GitHub', env: GITHUB },
  { what: 'a merge request on GitLab', env: GITLAB },
  { what: 'a branch on GitLab', env: GITLAB_BRANCH },
])('$what: the comment leads with what changed against the base branch', async ({ env }) => {
  const cwd = project();
  await cli(['test', '--traces', 'good.jsonl'], { cwd, env: { AGENTCI_BRANCH: 'main' } });
  const { stdout } = await cli(['test', '--traces', 'bad.jsonl', '-f', 'markdown'], { cwd, env });
  expect(stdout).toMatch(
    /\*\*Worse\*\* against \S+, 4 queries in both runs\. 1 query passed before and fails now\./,
  );
  const again = await cli(['report', '-f', 'markdown', '-o', 'r.html'], { cwd, env });
  expect(again.stdout).toContain('1 query passed before and fails now.');
  expect(readFileSync(join(cwd, 'r.html'), 'utf8')).toContain(
    '1 query passed before and fails now.',
  );
});

test('the merged run of shards is compared with the base branch too', async () => {
  const cwd = project();
  await cli(['test', '--traces', 'good.jsonl'], { cwd, env: { AGENTCI_BRANCH: 'main' } });
  for (const shard of ['1/2', '2/2'])
    await cli(['test', '--traces', 'bad.jsonl', '--shard', shard], { cwd, env: GITHUB });
  const { stdout } = await cli(['merge', '.agentci/runs', '-f', 'markdown'], { cwd, env: GITHUB });
  expect(stdout).toContain('1 query passed before and fails now.');
});

test('a run of a few queries is compared over those, and the others are not said to be gone', async () => {
  const cwd = project();
  await cli(['test', '--traces', 'good.jsonl'], { cwd, env: { AGENTCI_BRANCH: 'main' } });
  const { stdout } = await cli(
    ['test', '--traces', 'bad.jsonl', '--tags', 'few', '-f', 'markdown'],
    {
      cwd,
      env: GITHUB,
    },
  );
  expect(stdout).toContain('1 query in both runs');
  expect(stdout).not.toContain('gone');
});

test.each([
  { what: 'the base branch has no run', branch: 'other', args: [] },
  { what: 'its only run is of a few queries', branch: 'main', args: ['--tags', 'few'] },
])('when $what, no change is reported', async ({ branch, args }) => {
  const cwd = project();
  await cli(['test', '--traces', 'good.jsonl', ...args], { cwd, env: { AGENTCI_BRANCH: branch } });
  const { stdout, stderr } = await cli(['test', '--traces', 'bad.jsonl', '-f', 'markdown'], {
    cwd,
    env: GITHUB,
  });
  expect(stdout).not.toContain('against');
  expect(stderr).not.toContain('agentci:');
});
