import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = join(fileURLToPath(import.meta.url), '..', '..', '..', '..', '..');

test('the demo records, replays without a key, and misses when the prompt changes', () => {
  const { status, stdout } = spawnSync(process.execPath, ['demos/cassette/run.mjs'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  expect(stdout).toContain('cassette: 5 calls recorded');
  expect(stdout).toMatch(/cassette: 5 calls replayed; recorded \$\S+, spent \$0/);
  expect(stdout).toContain('2 missed (system prompt)');
});
