import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLI } from '@agentci/testing/cli';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

const QUERIES = 8;
const agent = `
import { appendFileSync } from 'node:fs';
export default async (query) => {
  appendFileSync('asked.log', query + '\\n');
  await new Promise((resolve) => setTimeout(resolve, 150));
  return { answer: 'ok ' + query, metadata: { privacy_epsilon: 0.25 } };
};
`;
const spec = (extra = '') => `version: 1
agent: demo
runner: {module: ./agent.mjs}
queries:
${Array.from({ length: QUERIES }, (_, i) => `  - {id: q${i}, query: question ${i}, correctness: {expected_in_answer: [ok${extra}]}}`).join('\n')}
`;
const project = () => tempDir({ 'agentci_spec.yaml': spec(), 'agent.mjs': agent });
const askedIn = (cwd: string) =>
  existsSync(join(cwd, 'asked.log'))
    ? readFileSync(join(cwd, 'asked.log'), 'utf8').trim().split('\n')
    : [];

/** Starts a run and sends the signal after some queries. */
async function stopMidway(
  cwd: string,
  signal: 'SIGKILL' | 'SIGINT',
  finished: number,
  args: readonly string[] = [],
): Promise<number | null> {
  const child = spawn(process.execPath, [CLI, 'test', '-w', '1', ...args], {
    cwd,
    stdio: 'ignore',
  });
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  const runs = join(cwd, '.agentci/runs');
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const [run] = existsSync(runs) ? readdirSync(runs) : [];
    const file = join(runs, run ?? '', 'results.jsonl');
    // The folder exists a moment before the file.
    const journal = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (journal.split('\n').length - 2 >= finished) break;
  }
  child.kill(signal);
  return closed;
}

test('a killed run loses nothing: --resume asks only the missing queries', async () => {
  const cwd = project();
  await stopMidway(cwd, 'SIGKILL', 3);
  const before = askedIn(cwd);
  expect(before.length).toBeLessThan(QUERIES);

  const { code, stdout } = await cli(['test', '--resume', '-f', 'json'], { cwd });
  expect(code).toBe(0);
  const { results } = JSON.parse(stdout) as {
    results: { id: string; status: string; answer: string }[];
  };
  expect(results.map(({ id, answer }) => `${id} ${answer}`)).toEqual(
    Array.from({ length: QUERIES }, (_, i) => `q${i} ok question ${i}`),
  );
  const again = askedIn(cwd).slice(before.length);
  // Three were finished. At most the one in progress at the kill is asked twice.
  expect(again.length).toBeLessThanOrEqual(QUERIES - 3);
  for (const done of before.slice(0, 3)) expect(again).not.toContain(done);
  expect((await cli(['test', '--resume'], { cwd })).code).toBe(2);
});

describe('checks over the whole run', () => {
  const budget = 'metrics: {privacy_budget: {min: 0.5, total_budget: 2.5}}';
  const checksOf = (stdout: string) =>
    (JSON.parse(stdout) as { checks: { id: string; value?: number }[] }).checks;

  test('counts the queries that were finished before --resume, and again in eval --run', async () => {
    const cwd = tempDir({ 'agentci_spec.yaml': `${spec()}${budget}\n`, 'agent.mjs': agent });
    await stopMidway(cwd, 'SIGKILL', 3);
    const resumed = await cli(['test', '--resume', '-f', 'json'], { cwd });
    // Eight queries spend 2 of 2.5. The remaining five would have spent half of it.
    expect(checksOf(resumed.stdout)).toMatchObject([
      { id: 'metric.privacy_budget', status: 'fail', value: 0.2 },
    ]);
    expect(resumed.code).toBe(1);
    expect(JSON.parse(resumed.stdout).metrics.privacy_budget.detail).toMatchObject({
      total_spent: 2,
      traces: 8,
    });
    const [run] = readdirSync(join(cwd, '.agentci/runs'));
    const again = await cli(['eval', '--run', run!, '-f', 'json'], { cwd });
    expect(checksOf(again.stdout)).toEqual(checksOf(resumed.stdout));
    expect(again.code).toBe(1);
  });

  test('is not measured if a query left no trace, unless the known part is already too much', async () => {
    const broken = agent.replace(
      'return',
      "if (query.endsWith('7')) throw new Error('no'); return",
    );
    for (const [total, status] of [
      ['10', 'error'],
      ['1', 'fail'],
    ]) {
      const metrics = `metrics: {privacy_budget: {min: 0.1, total_budget: ${total}}}\n`;
      const cwd = tempDir({ 'agentci_spec.yaml': `${spec()}${metrics}`, 'agent.mjs': broken });
      const { stdout } = await cli(['test', '-f', 'json'], { cwd });
      expect(checksOf(stdout)).toMatchObject([{ id: 'metric.privacy_budget', status }]);
    }
  });
});

test('Ctrl-C writes finished results and exits 130', async () => {
  const cwd = project();
  expect(await stopMidway(cwd, 'SIGINT', 2)).toBe(130);
  expect((await cli(['test', '--resume'], { cwd })).code).toBe(0);
});

describe('a run is continued as it was started', () => {
  /** Every query passes with a warning. */
  const warned = (extra = '') =>
    tempDir({
      'agent.mjs': agent,
      'agentci_spec.yaml': `${spec().replaceAll('correctness:', 'cost: {max_latency_ms: 1}, correctness:')}${extra}`,
    });

  test.each(['SIGKILL', 'SIGINT'] as const)('--strict survives %s', async (signal) => {
    const cwd = warned();
    await stopMidway(cwd, signal, 2, ['--strict']);
    const { code, stdout } = await cli(['test', '--resume', '-f', 'json'], { cwd });
    const { results } = JSON.parse(stdout) as { results: { status: string }[] };
    expect([code, results.map(({ status }) => status)]).toEqual([1, Array(QUERIES).fill('warn')]);
  });

  test('--strict of a shard that was killed reaches the merged run', async () => {
    const cwd = warned();
    await stopMidway(cwd, 'SIGKILL', 1, ['--strict', '--shard', '1/2']);
    await cli(['test', '--resume', '-w', '4'], { cwd });
    await cli(['test', '--shard', '2/2'], { cwd });
    expect((await cli(['merge', '.agentci/runs'], { cwd })).code).toBe(1);
  });

  test('ids of a spec with a matrix stay ids, in every cell', async () => {
    const cwd = warned('matrix: {model: [x, y]}\n');
    await stopMidway(cwd, 'SIGKILL', 1, ['--ids', 'q1,q2']);
    const { code, stdout, stderr } = await cli(['test', '--resume', '-f', 'json'], { cwd });
    expect(code, stderr).toBe(0);
    const { results } = JSON.parse(stdout) as {
      results: { id: string; cell: { model: string } }[];
    };
    expect(results.map(({ id, cell }) => `${id} ${cell.model}`)).toEqual([
      'q1 x',
      'q1 y',
      'q2 x',
      'q2 y',
    ]);
  });
});

test('a changed spec is not resumed', async () => {
  const cwd = project();
  await stopMidway(cwd, 'SIGKILL', 1);
  writeFileSync(join(cwd, 'agentci_spec.yaml'), spec('!'));
  const { code, stderr } = await cli(['test', '--resume'], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain('RESUME_REFUSED');
});
