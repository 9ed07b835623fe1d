import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..', '..');

/** A copy of the workspace without its packages, which are linked. */
function workspace(): string {
  const dir = tempDir();
  for (const name of [
    'scripts',
    'package.json',
    'biome.json',
    '.gitignore',
    'tsconfig.json',
    'vitest.config.ts',
    'schema',
    'docs',
    'ARCHITECTURE.md',
  ]) {
    cpSync(join(root, name), join(dir, name), { recursive: true });
  }
  for (const name of ['src', 'test/support', 'test/vectors', 'package.json']) {
    cpSync(join(root, 'packages/agentci', name), join(dir, 'packages/agentci', name), {
      recursive: true,
    });
  }
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'));
  const own = join(root, 'packages/agentci/node_modules');
  if (existsSync(own)) symlinkSync(own, join(dir, 'packages/agentci/node_modules'));
  return dir;
}

const node = (cwd: string, args: string[]) =>
  spawnSync(process.execPath, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });

test('npm run new makes a check, a reporter, an adapter and a metric that are found and whose tests pass', {
  timeout: 120_000,
}, () => {
  const dir = workspace();
  const made = [
    ['check', 'path/max-failed-calls', 'docs/checks/max_failed_calls.md'],
    ['reporter', 'teamcity', 'docs/reporters/teamcity.md'],
    ['adapter', 'my-format', 'docs/adapters/my-format.md'],
    ['metric', 'quality/tone', 'docs/metrics/tone.md'],
  ] as const;
  for (const [kind, name, page] of made) {
    const { status, stderr } = node(dir, ['scripts/new.mjs', kind, name]);
    expect({ kind, status, stderr: status === 0 ? '' : stderr }).toEqual({
      kind,
      status: 0,
      stderr: '',
    });
    expect(existsSync(join(dir, page))).toBe(true);
  }
  const generated = (path: string) => readFileSync(join(dir, 'packages/agentci/src', path), 'utf8');
  expect(generated('layers/index.gen.ts')).toContain('./path/max-failed-calls.ts');
  expect(generated('reporters/index.gen.ts')).toContain('./teamcity.ts');
  expect(generated('adapters/index.gen.ts')).toContain('./formats/my-format/my-format.ts');
  expect(generated('metrics/index.gen.ts')).toContain('./quality/tone.ts');
  expect(readFileSync(join(dir, 'schema/agentci-spec.schema.json'), 'utf8')).toContain(
    'max_failed_calls',
  );
  const tests = made.map(([, name]) => `${name.split('/').at(-1)}.test`);
  const { status, stdout } = node(dir, ['node_modules/vitest/vitest.mjs', 'run', ...tests]);
  expect({ status, stdout: status === 0 ? '' : stdout }).toEqual({ status: 0, stdout: '' });
});

test.each([
  { args: [], says: /check, reporter, adapter, metric/ },
  { args: ['check', 'max-retries'], says: /npm run new check path\/max-retries/ },
  { args: ['reporter', '../evil'], says: /npm run new reporter/ },
])('a wrong call ($args) says how it is written', ({ args, says }) => {
  const { status, stderr } = node(root, ['scripts/new.mjs', ...args]);
  expect(status).toBe(2);
  expect(stderr).toMatch(says);
});
