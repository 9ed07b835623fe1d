import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

test('the guard stops what the mail asked for, and the audit says by which lines', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['demos/guard/run.mjs'], {
    cwd: root,
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  // Sent once, in the run without the guard.
  expect(stderr.match(/sent to audit@evil\.test: Grace Hopper/g)).toHaveLength(1);
  expect(stderr).not.toContain('sent to audit@example.com');
  expect(stdout).toContain('refused by policy: argument to (mail-policy.yaml:7)');
  expect(stdout).toContain('refused by policy: customers-stay-here (mail-policy.yaml:12)');
  expect(stdout).toContain('4 of 4 decisions reproduced');
});
