import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunResult } from '@agentci/results';
import { workspaceCopy } from '@agentci/testing/workspace-copy';
import { expect, test } from 'vitest';

const root = workspaceCopy();
const run = (...args: string[]) =>
  spawnSync(process.execPath, ['demos/conversation/run.mjs', ...args], {
    cwd: root,
    encoding: 'utf8',
  });

test('the refund before it was confirmed is found in its turn', { timeout: 60_000 }, () => {
  const { status, stdout } = run('-f', 'json');
  const { results } = JSON.parse(stdout) as RunResult;
  expect(results.map(({ id, status: verdict }) => `${id} ${verdict}`)).toEqual([
    'one-item pass',
    'changed-mind pass',
    'in-a-hurry fail',
  ]);
  expect(results.map(({ conversation }) => conversation?.turns.map(({ tools }) => tools))).toEqual([
    [[], ['lookup_order'], [], ['refund']],
    [['lookup_order'], []],
    [['lookup_order'], ['refund']],
  ]);
  expect(results[2]).toMatchObject({
    conversation: {
      ending: 'user_done',
      blame: 'agent',
      turns: [{}, { status: 'fail', user: 'The desk lamp. Hurry!' }],
    },
  });
  expect(status).toBe(1);
});

test('the README types what works', { timeout: 60_000 }, () => {
  expect(readFileSync(join(root, 'demos/conversation/README.md'), 'utf8')).toContain(
    'node demos/conversation/run.mjs\n',
  );
  expect(run().stdout).toContain('turn 2 (fail)');
});

test('a recorded conversation replays the same each time, without the model', {
  timeout: 120_000,
}, () => {
  expect(run('--cassette', 'record').status).toBe(1);
  const said = () => {
    const { results } = JSON.parse(run('--cassette', 'replay', '-f', 'json').stdout) as RunResult;
    return results.map(({ status, conversation, cassette }) => ({
      status,
      misses: cassette?.misses,
      turns: conversation?.turns.map(({ user, answer, tools }) => [user, answer, tools]),
    }));
  };
  const first = said();
  expect(first.map(({ status, misses }) => [status, misses])).toEqual([
    ['pass', 0],
    ['pass', 0],
    ['fail', 0],
  ]);
  for (let i = 0; i < 5; i++) expect(said()).toEqual(first);
});
