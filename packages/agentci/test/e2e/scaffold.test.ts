import { spawnSync } from 'node:child_process';
import { ROOT } from '@agentci/testing/node';
import { expect, test } from 'vitest';

// `npm run test:scaffold` tests the output of `npm run new` with the whole unit suite.

test.each([
  { args: [], says: /check, reporter, format, metric, rule, command/ },
  { args: ['check', 'max-retries'], says: /npm run new check path\/max-retries/ },
  { args: ['adapter', '../evil'], says: /npm run new format/ },
  { args: ['reporter', '../evil'], says: /npm run new reporter/ },
])('a wrong call ($args) shows the right one', ({ args, says }) => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/new.mjs', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(status).toBe(2);
  expect(stderr).toMatch(says);
});
