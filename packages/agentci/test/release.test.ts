import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempDir } from '@agentci/testing/temp-dir';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..');

const LOCK = {
  name: 'x',
  lockfileVersion: 3,
  packages: { 'packages/agentci': { version: '0.1.0' } },
};
const LOGGING =
  '#!/usr/bin/env bash\necho "$(basename "$0") $*" >> "$LOG"\n[ "$1" != release ] || cat >> "$LOG"\n';

/**
 * A repository with a remote, the release script, and fake npm and gh that only log their
 * arguments.
 */
function repository(changelog: string) {
  const dir = tempDir({
    'work/CHANGELOG.md': changelog,
    'work/packages/agentci/package.json':
      '{\n  "name": "@agentci/agentci",\n  "version": "0.1.0"\n}\n',
    'work/package-lock.json': LOCK,
    'bin/npm': LOGGING,
    'bin/gh': LOGGING,
    log: '',
  });
  for (const name of ['npm', 'gh']) chmodSync(join(dir, 'bin', name), 0o755);
  cpSync(join(root, 'scripts/release.mjs'), join(dir, 'work/scripts/release.mjs'));
  cpSync(join(root, 'scripts/release'), join(dir, 'work/scripts/release'), { recursive: true });
  const cwd = join(dir, 'work');
  const env = {
    ...process.env,
    PATH: `${join(dir, 'bin')}:${process.env.PATH}`,
    LOG: join(dir, 'log'),
  };
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd, env, encoding: 'utf8' }).trim();
  execFileSync('git', ['init', '--quiet', '--bare', join(dir, 'remote.git')]);
  git('init', '--quiet', '--initial-branch', 'main');
  git('config', 'user.name', 'a');
  git('config', 'user.email', 'a@example.com');
  git('remote', 'add', 'origin', join(dir, 'remote.git'));
  git('add', '--all');
  git('commit', '--quiet', '--message', 'first');
  git('tag', 'v0');
  git('push', '--quiet', 'origin', 'main', 'v0');
  const release = (...args: string[]) =>
    spawnSync(process.execPath, ['scripts/release.mjs', ...args], { cwd, env, encoding: 'utf8' });
  return { cwd, git, release, log: () => readFileSync(join(dir, 'log'), 'utf8') };
}

const CHANGES = '# Changelog\n\n## Unreleased\n\n- something new\n\n## 0.1.0\n\n- the first\n';

test('a dry run of this repository says every step and changes nothing', () => {
  const before = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['scripts/release.mjs', 'minor', '--dry-run'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const steps = stdout.split('\n').filter((line) => /^(?:write|run {3})/.test(line));
  expect(steps).toEqual([
    'write CHANGELOG.md',
    'write packages/agentci/package.json',
    'write package-lock.json',
    'run   npm run gen',
    'run   npm run check',
    expect.stringMatching(/^run {3}git commit --all --message 'Release \d+\.\d+\.0'$/),
    expect.stringMatching(/^run {3}git tag --annotate v\d+\.\d+\.0 /),
    'run   git tag --force v0',
    'run   npm publish --workspace @agentci/agentci --provenance --access public',
    expect.stringMatching(/^run {3}git push --atomic origin HEAD:\S+ v\d+\.\d+\.0$/),
    'run   git push --force origin v0',
    expect.stringMatching(/^run {3}gh release create v\d+\.\d+\.0 /),
  ]);
  expect(execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })).toBe(
    before,
  );
});

test('a release writes the version and the changelog, tags it, moves v0, publishes, and pushes last', () => {
  const { cwd, git, release, log } = repository(CHANGES);
  const { status, stderr } = release('minor');
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  expect(readFileSync(join(cwd, 'CHANGELOG.md'), 'utf8')).toMatch(
    /^# Changelog\n\n## Unreleased\n\n## 0\.2\.0 \(\d{4}-\d\d-\d\d\)\n\n- something new\n\n## 0\.1\.0\n\n- the first\n$/,
  );
  expect(JSON.parse(readFileSync(join(cwd, 'packages/agentci/package.json'), 'utf8')).version).toBe(
    '0.2.0',
  );
  expect(
    JSON.parse(readFileSync(join(cwd, 'package-lock.json'), 'utf8')).packages['packages/agentci']
      .version,
  ).toBe('0.2.0');
  expect(git('status', '--porcelain')).toBe('');
  const head = git('rev-parse', 'HEAD');
  expect(git('ls-remote', 'origin', 'refs/heads/main')).toContain(head);
  expect(git('ls-remote', 'origin', 'refs/tags/v0')).toContain(head);
  expect(git('ls-remote', 'origin', 'refs/tags/v0.2.0^{}')).toContain(head);
  expect(log()).toBe(
    'npm run gen\nnpm run check\nnpm publish --workspace @agentci/agentci --provenance --access public\n' +
      'gh release create v0.2.0 --title v0.2.0 --notes-file -\n- something new',
  );
});

test('a preview does not move v0 and is not what npm install gives', () => {
  const { git, release, log } = repository(CHANGES);
  const before = git('rev-parse', 'v0');
  expect(release('0.2.0-rc.1').status).toBe(0);
  expect(git('rev-parse', 'v0')).toBe(before);
  expect(log()).toContain('--access public --tag next\n');
});

test.each([
  {
    when: 'nothing was written down',
    changelog: '# Changelog\n\n## Unreleased\n\n## 0.1.0\n',
    asked: 'minor',
    says: 'says nothing',
  },
  {
    when: 'the version is not higher',
    changelog: CHANGES,
    asked: '0.1.0',
    says: '0.1.0 is not higher than 0.1.0',
  },
  {
    when: 'the version is not one',
    changelog: CHANGES,
    asked: 'next',
    says: '"next" is not a version',
  },
  { when: 'no version is named', changelog: CHANGES, asked: '--dry-run', says: 'usage:' },
])('it is refused when $when, before anything is changed', ({ changelog, asked, says }) => {
  const { git, release, log } = repository(changelog);
  const { status, stderr } = release(asked);
  expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining(says) });
  expect(git('status', '--porcelain') + log()).toBe('');
});

test('the workflow pins its actions, asks for an identity instead of a token, and runs the script', () => {
  const text = readFileSync(join(root, '.github/workflows/release.yml'), 'utf8');
  for (const [, name] of text.matchAll(/uses: *(.*)$/gm))
    expect(name).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  const workflow = load(text) as {
    permissions: object;
    jobs: { release: { steps: { run?: string }[] } };
  };
  expect(workflow.permissions).toEqual({ contents: 'write', 'id-token': 'write' });
  expect(
    workflow.jobs.release.steps.some(({ run }) =>
      run?.includes('node scripts/release.mjs "$VERSION"'),
    ),
  ).toBe(true);
  // Inputs reach a shell only as variables.
  for (const { run } of workflow.jobs.release.steps) expect(run ?? '').not.toContain('${{');
});
