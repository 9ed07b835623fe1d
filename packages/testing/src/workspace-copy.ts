import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { ROOT } from './node.ts';

const LINKED = ['node_modules', 'packages', 'schema', 'docs', 'scripts', 'package.json'];

/**
 * A copy of the workspace like a fresh clone, with writable demos, for the tests of one file. They
 * change neither the checkout nor each other's files.
 */
export function workspaceCopy(): string {
  const dir = mkdtempSync(join(tmpdir(), 'agentci-demos-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  for (const name of LINKED) symlinkSync(join(ROOT, name), join(dir, name));
  mkdirSync(join(dir, 'demos'));
  cpSync(join(ROOT, 'demos'), join(dir, 'demos'), {
    recursive: true,
    filter: (path) =>
      !/node_modules|\.agentci[\\/](runs|report\.html|results\.json)/.test(path.slice(ROOT.length)),
  });
  for (const demo of readdirSync(join(ROOT, 'demos'))) {
    const modules = join(ROOT, 'demos', demo, 'node_modules');
    if (existsSync(modules)) symlinkSync(modules, join(dir, 'demos', demo, 'node_modules'));
  }
  return dir;
}
