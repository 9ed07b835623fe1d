// The only gate: runs every step, shows every failure, and exits with the worst code.
import { spawnSync } from 'node:child_process';

const steps = [
  ['format and lint', 'biome', ['ci', '--colors=off']],
  ['types', 'tsc', ['-p', '.']],
  ['types of the page', 'tsc', ['-p', 'packages/report-ui']],
  [
    'tiers',
    'depcruise',
    ['packages', '--config', '.dependency-cruiser.cjs', '--output-type', 'err'],
  ],
  ['unused code', 'knip', []],
  ['generated files', process.execPath, ['scripts/gen.mjs', '--check']],
  ['node 20', process.execPath, ['scripts/check-engines.mjs']],
  ['docs', process.execPath, ['scripts/check-docs.mjs']],
  ['plain English', process.execPath, ['scripts/voice.mjs', '--check']],
  ['unit tests', 'vitest', ['run', '--project', 'unit']],
  ['docs site', 'vitest', ['run', '--project', 'site']],
  ['new extensions', process.execPath, ['scripts/test-scaffold.mjs']],
  ['sizes', process.execPath, ['scripts/check-sizes.mjs']],
  ['package', 'publint', ['packages/agentci', '--strict']],
  [
    'package types',
    'attw',
    [
      '--pack',
      'packages/agentci',
      '--profile',
      'esm-only',
      '--no-emoji',
      '--exclude-entrypoints',
      './schema/*',
    ],
  ],
];

const failed = [];
for (const [name, command, args] of steps) {
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    env: { ...process.env, PATH: `node_modules/.bin:${process.env.PATH}`, NO_COLOR: '1' },
    maxBuffer: 64 * 1024 * 1024,
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
  if (status !== 0) {
    failed.push(name);
    process.stdout.write(`${stdout ?? ''}${stderr ?? ''}`);
  }
}
if (failed.length > 0) {
  console.log(`\ncheck failed: ${failed.join(', ')}`);
  process.exit(1);
}
console.log('\ncheck passed');
