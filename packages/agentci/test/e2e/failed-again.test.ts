import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@agentci/testing/temp-dir';
import { describe, expect, test } from 'vitest';
import { cli } from '../support/cli.ts';

/** Answers "no" to the queries in bad.txt. */
const AGENT = `import { readFileSync } from 'node:fs';
export default (query, { id }) => {
  const isBad = readFileSync('bad.txt', 'utf8').split(' ').includes(id);
  return { answer: isBad ? 'no' : 'ok', cost_usd: 0.01, tool_calls: [] };
};
`;
const spec = (more: Readonly<Record<string, string>> = {}): string => `agent: shop
runner: {module: ./agent.mjs}
queries:
${['a', 'b', 'c'].map((id) => `  - {id: ${id}, query: ${id}, ${more[id] ?? ''}correctness: {expected_in_answer: [ok]}}\n`).join('')}`;

const project = (text = spec()): string =>
  tempDir({ 'agent.mjs': AGENT, 'bad.txt': '', 'agentci_spec.yaml': text });
const on = (branch: string) => ({ AGENTCI_BRANCH: branch, AGENTCI_COMMIT: '1'.repeat(40) });

/** Runs the agent with these queries failing. */
async function run(
  cwd: string,
  bad: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
) {
  writeFileSync(join(cwd, 'bad.txt'), bad);
  return cli(['test', '--quiet', ...args], { cwd, env });
}

/** The queries that --failed would run, or the error. */
async function failed(cwd: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const { stdout, stderr } = await cli(['test', '--failed', '--dry-run', '--json', ...args], {
    cwd,
    env,
  });
  return stdout === ''
    ? stderr
    : (JSON.parse(stdout) as { cases: { id: string }[] }).cases.map(({ id }) => id);
}

/** Checks the stored runs, then again with only the history. */
async function failedEitherWay(
  cwd: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
) {
  const stored = await failed(cwd, args, env);
  rmSync(join(cwd, '.agentci', 'runs'), { recursive: true });
  return { stored, past: await failed(cwd, args, env) };
}
const both = (...ids: string[]) => ({ stored: ids, past: ids });

describe('--failed', () => {
  test('remembers a failure on another branch after a partial run on this one', async () => {
    const cwd = project();
    await run(cwd, 'a b', [], on('main'));
    await run(cwd, 'a b', ['--ids', 'a'], on('feature'));
    expect(await failedEitherWay(cwd, [], on('feature'))).toEqual(both('a', 'b'));
  });

  test('does not forget what a run that stopped at the first failure did not get to', async () => {
    const cwd = project();
    await run(cwd, 'a b', [], on('main'));
    await run(cwd, 'a b', ['--failed', '--fail-fast', '-w', '1'], on('feature'));
    expect(await failedEitherWay(cwd, [], on('feature'))).toEqual(both('a', 'b'));
  });

  test('takes a pass on this branch as passed, whatever happened on another', async () => {
    const cwd = project();
    await run(cwd, 'a b', [], on('main'));
    await run(cwd, '', ['--ids', 'a'], on('feature'));
    expect(await failedEitherWay(cwd, [], on('feature'))).toEqual(both('b'));
  });

  test('does not take a query that was left out for one that passed', async () => {
    const cwd = project();
    await run(cwd, 'a b');
    writeFileSync(join(cwd, 'agentci_spec.yaml'), spec({ b: 'skip: later, ' }));
    await run(cwd, 'a');
    writeFileSync(join(cwd, 'agentci_spec.yaml'), spec());
    expect(await failedEitherWay(cwd)).toEqual(both('a', 'b'));
  });

  test('takes a failure that was expected for one, once it is not expected any more', async () => {
    const cwd = project(spec({ b: 'xfail: known, ' }));
    await run(cwd, 'a b');
    expect(await failed(cwd)).toEqual(['a']);
    writeFileSync(join(cwd, 'agentci_spec.yaml'), spec());
    expect(await failedEitherWay(cwd)).toEqual(both('a', 'b'));
  });

  test('takes what warned as well with --strict', async () => {
    const cwd = project(spec({ b: 'cost: {max_cost_usd: 0.001}, ' }));
    expect((await run(cwd, '', ['--strict'])).code).toBe(1);
    expect(await failed(cwd)).toContain('NOTHING_FAILED');
    expect(await failedEitherWay(cwd, ['--strict'])).toEqual(both('b'));
  });

  test('takes unmeasured cases with --strict if the run is stored', async () => {
    const cwd = project(spec({ c: 'cost: {max_llm_calls: 3}, ' }));
    expect((await run(cwd, '', ['--strict'])).code).toBe(2);
    expect(await failed(cwd, ['--strict'])).toEqual(['c']);
  });
});

test('--failed-from refuses a run of another spec', async () => {
  const cwd = project();
  writeFileSync(join(cwd, 'other.yaml'), spec());
  await run(cwd, 'a', ['-c', 'other.yaml']);
  const runs = await cli(['history', '--json'], { cwd });
  const { id } = (JSON.parse(runs.stdout) as { runs: { id: string }[] }).runs[0]!;
  const refused = await cli(['test', '--failed-from', `.agentci/runs/${id}`], { cwd });
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('is a run of other.yaml'),
  ]);
  expect(refused.stderr).toContain('RUN_OTHER_SPEC');
});
