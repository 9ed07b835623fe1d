import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

/** Three tasks of four trials, which passed four, two and zero times. */
const REWARDS = [
  [1, 1, 1, 1],
  [1, 0, 0, 1],
  [0, 0, 0, 0],
];
const trials = REWARDS.flatMap((rewards, task) =>
  rewards.map((reward, trial) => ({
    task_id: task,
    trial,
    reward,
    info: {},
    traj: [
      // The simulated user starts every trial with different words.
      { role: 'user', content: `Task ${task}, please (${trial}).` },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'book', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', name: 'book', content: 'done' },
      { role: 'assistant', content: 'Booked.' },
    ],
  })),
);

test('recorded trials become repeats of their task, and every report has pass^k with its standard error', async () => {
  const cwd = tempDir({ 'trials.json': JSON.stringify(trials) });
  expect((await cli(['import', 'trials.json', '--to-spec'], { cwd })).code).toBe(0);
  const spec = readFileSync(join(cwd, 'agentci_spec.yaml'), 'utf8');
  expect(spec.match(/runs: 4/g)).toHaveLength(3);
  expect(spec.match(/outcome: \{name: "reward", min: 1\}/g)).toHaveLength(3);

  const formats = ['json', 'junit', 'sarif', 'prometheus', 'markdown', 'csv', 'html'];
  const { code, stdout } = await cli(
    ['test', '-f', 'console', ...formats.flatMap((name) => ['-f', `${name}=out.${name}`])],
    {
      cwd,
    },
  );
  expect(code).toBe(1);
  expect(stdout).toMatch(/pass\^k\s+0\.500\s+0\.389\s+0\.333\s+0\.333/);
  expect(stdout).toMatch(/standard error\s+0\.289\s+0\.309/);
  const report = (name: string) => readFileSync(join(cwd, `out.${name}`), 'utf8');
  expect(JSON.parse(report('json')).summary.pass_hat_k).toMatchObject([
    { k: 1, value: 0.5, tasks: 3 },
    { k: 2, tasks: 3 },
    { k: 3 },
    { k: 4 },
  ]);
  expect(report('junit')).toContain('<property name="pass_hat_1" value="0.5"/>');
  expect(JSON.parse(report('sarif')).runs[0].properties.pass_hat_k).toHaveLength(4);
  expect(report('prometheus')).toMatch(/agentci_pass_hat_k\{agent="[^"]*",k="1"\} 0\.5/);
  expect(report('markdown')).toContain('| pass^k | 0.500 |');
  expect(report('csv')).toContain('"run.pass_hat_1"');
  expect(report('html')).toContain('pass_hat_k');
  expect((await cli(['test', '-f', 'github'], { cwd })).stdout).toContain('pass^1 0.500 ± 0.289');
});

test('a recording without the outcome is could not tell', async () => {
  const cwd = tempDir({
    'agentci_spec.yaml':
      'version: 1\nagent: a\nqueries:\n  - {query: q, correctness: {outcome: {name: reward, min: 1}}}\n',
    't.json': JSON.stringify({ query: 'q', answer: 'a' }),
  });
  const { code, stdout } = await cli(['test', '--traces', 't.json'], { cwd });
  expect(code).toBe(2);
  expect(stdout).toContain('the recording carries no outcome');
});
