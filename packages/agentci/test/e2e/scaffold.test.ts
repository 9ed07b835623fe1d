import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..', '..');

/** A copy of the workspace: its own packages are copied, the others linked. */
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
  cpSync(join(root, 'packages'), join(dir, 'packages'), {
    recursive: true,
    filter: (path) => !/[\\/](?:node_modules|dist|test|recordings|capture-clients)$/.test(path),
  });
  mkdirSync(join(dir, 'node_modules', '@agentci'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@agentci')
      symlinkSync(join(root, 'node_modules', name), join(dir, 'node_modules', name));
  for (const name of readdirSync(join(dir, 'packages'))) {
    symlinkSync(join(dir, 'packages', name), join(dir, 'node_modules', '@agentci', name));
    const own = join(root, 'packages', name, 'node_modules');
    if (existsSync(own)) symlinkSync(own, join(dir, 'packages', name, 'node_modules'));
  }
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
  const generated = (path: string) => readFileSync(join(dir, 'packages', path), 'utf8');
  expect(generated('checks/src/index.gen.ts')).toContain('./path/max-failed-calls.ts');
  expect(generated('reporters/src/index.gen.ts')).toContain('./teamcity.ts');
  expect(generated('formats/src/index.gen.ts')).toContain('./formats/my-format/my-format.ts');
  expect(generated('metrics/src/index.gen.ts')).toContain('./quality/tone.ts');
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
