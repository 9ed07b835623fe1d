import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from 'vitest';
import { tempDir } from './support/temp-dir.ts';

// The README as a newcomer types it: the packed package, an empty folder, every command in order.

const packageDir = join(fileURLToPath(import.meta.url), '..', '..');
const readme = readFileSync(join(packageDir, '..', '..', 'README.md'), 'utf8');
const section = readme.slice(readme.indexOf('## In five minutes'), readme.indexOf('## What it tells you'));
const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text]) => text!.trim().split('\n'));
const INSTALL = 'npm install --save-dev @agentci/agentci';

let tarball: string;
beforeAll(() => {
  const dir = tempDir();
  const packed = execFileSync('npm', ['pack', '--json', '--pack-destination', dir, '--loglevel=error'], {
    cwd: packageDir,
    encoding: 'utf8',
  });
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  tarball = join(dir, filename.replace('/', '-').replace('@', ''));
}, 60_000);

test('three commands come to a first verdict', () => {
  expect(blocks[0]).toEqual([INSTALL, expect.stringMatching(/^npx agentci init /), 'npx agentci test']);
});

test('every command works in an empty folder, and every file that is named is there', { timeout: 180_000 }, () => {
  const cwd = tempDir();
  const { CI: _, GITHUB_ACTIONS: __, FORCE_COLOR: ___, ...inherited } = process.env;
  for (const line of blocks.flat()) {
    const typed = line === INSTALL ? `npm install --no-audit --no-fund --loglevel=error --save-dev ${tarball}` : line;
    // Without npx on the network: what it runs must be what was installed.
    const { status, stdout, stderr } = spawnSync('bash', ['-c', typed], {
      cwd,
      encoding: 'utf8',
      env: { ...inherited, NO_COLOR: '1', npm_config_offline: line === INSTALL ? 'false' : 'true' },
    });
    expect({ line, status, output: status === 0 ? '' : stdout + stderr }).toEqual({ line, status: 0, output: '' });
    if (line.startsWith('npx agentci test')) expect(stdout).toContain('1 query: 1 passed');
  }
  const prose = section.replace(/^```[\s\S]*?^```/gm, '');
  const named = [...prose.matchAll(/`([\w./-]+\.(?:yaml|yml|mjs|py|ts|jsonl))`/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(3);
  for (const name of named) expect({ name, exists: existsSync(join(cwd, name)) }).toEqual({ name, exists: true });
});
