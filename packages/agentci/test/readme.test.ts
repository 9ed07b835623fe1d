import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { npmEnv } from '@agentci/testing/npm';
import { tempDir } from '@agentci/testing/temp-dir';
import { afterAll, beforeAll, expect, test } from 'vitest';

// Follows the README like a newcomer: the packed package, an empty folder, every command in order.

const packageDir = join(fileURLToPath(import.meta.url), '..', '..');
const readme = readFileSync(join(packageDir, '..', '..', 'README.md'), 'utf8');
const section = readme.slice(
  readme.indexOf('## In five minutes'),
  readme.indexOf('## What it tells you'),
);
const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, text]) =>
  text!.trim().split('\n'),
);
const INSTALL = 'npm install --save-dev @agentci/agentci';

let tarball: string;
let dir: string;
afterAll(() => rmSync(dir, { recursive: true, force: true }));
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'agentci-'));
  const packed = execFileSync(
    'npm',
    ['pack', '--json', '--pack-destination', dir, '--loglevel=error'],
    {
      cwd: packageDir,
      encoding: 'utf8',
    },
  );
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }];
  tarball = join(dir, filename.replace('/', '-').replace('@', ''));
}, 60_000);

test('three commands come to a first verdict', () => {
  expect(blocks[0]).toEqual([
    INSTALL,
    expect.stringMatching(/^npx agentci init /),
    'npx agentci test',
  ]);
});

/** A newcomer's shell. npx stays offline, so that it runs the installed package. */
function shell(cwd: string) {
  const { CI: _, GITHUB_ACTIONS: __, FORCE_COLOR: ___, ...inherited } = npmEnv();
  return (line: string) => {
    const typed =
      line === INSTALL
        ? `npm install --no-audit --no-fund --loglevel=error --save-dev ${tarball}`
        : line;
    const { status, stdout, stderr } = spawnSync('bash', ['-c', typed], {
      cwd,
      encoding: 'utf8',
      env: { ...inherited, NO_COLOR: '1', npm_config_offline: line === INSTALL ? 'false' : 'true' },
    });
    return { status, output: stdout + stderr };
  };
}

test('every command works in an empty folder, and every file that is named is there', {
  timeout: 180_000,
}, () => {
  const cwd = tempDir();
  const type = shell(cwd);
  for (const line of blocks.flat()) {
    const { status, output } = type(line);
    expect({ line, status, output: status === 0 ? '' : output }).toEqual({
      line,
      status: 0,
      output: '',
    });
    if (line.startsWith('npx agentci test')) expect(output).toContain('1 query: 1 passed');
  }
  const prose = section.replace(/^```[\s\S]*?^```/gm, '');
  const named = [...prose.matchAll(/`([\w./-]+\.(?:yaml|yml|mjs|py|ts|jsonl))`/g)].map(
    ([, name]) => name!,
  );
  expect(named.length).toBeGreaterThan(3);
  for (const name of named)
    expect({ name, exists: existsSync(join(cwd, name)) }).toEqual({ name, exists: true });
});

test('the tutorial comes out as it says, from the first command to the last', {
  timeout: 180_000,
}, () => {
  const cwd = tempDir();
  const type = shell(cwd);
  const text = readFileSync(join(packageDir, '..', '..', 'docs/guide/tutorial.md'), 'utf8');
  let output = '';
  for (const [, language, block] of text.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)) {
    const lines = block!.trimEnd().split('\n');
    if (language === 'sh') {
      output = '';
      for (const line of lines) {
        const [command = '', exit = '0'] = line.split(/ +# exit /);
        const outcome = type(command);
        output += outcome.output;
        expect({ command, status: outcome.status, output }).toMatchObject({
          command,
          status: Number(exit),
        });
      }
      // The output contains these lines in this order.
    } else if (language === 'text') {
      let at = 0;
      for (const line of lines) {
        const found = output.indexOf(line, at);
        expect({ line, isShown: found >= 0, output }).toMatchObject({ line, isShown: true });
        at = found + line.length;
      }
    } else {
      const file = /^# (\S+)$/.exec(lines[0] ?? '')?.[1];
      expect(file).toBeDefined();
      writeFileSync(join(cwd, file!), block!);
    }
  }
  expect(existsSync(join(cwd, 'report.html'))).toBe(true);
});
