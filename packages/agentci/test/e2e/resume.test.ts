import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CLI, cli } from '../support/cli.ts';
import { tempDir } from '../support/temp-dir.ts';

const QUERIES = 8;
const agent = `
import { appendFileSync } from 'node:fs';
export default async (query) => {
  appendFileSync('asked.log', query + '\\n');
  await new Promise((resolve) => setTimeout(resolve, 150));
  return 'ok ' + query;
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
  existsSync(join(cwd, 'asked.log')) ? readFileSync(join(cwd, 'asked.log'), 'utf8').trim().split('\n') : [];

/** Starts a run and sends the signal once some queries are done. */
async function stopMidway(cwd: string, signal: 'SIGKILL' | 'SIGINT', finished: number): Promise<number | null> {
  const child = spawn(process.execPath, [CLI, 'test', '-w', '1'], { cwd, stdio: 'ignore' });
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  const runs = join(cwd, '.agentci/runs');
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const [run] = existsSync(runs) ? readdirSync(runs) : [];
    const journal = run === undefined ? '' : readFileSync(join(runs, run, 'results.jsonl'), 'utf8');
    if (journal.split('\n').length - 2 >= finished) break;
  }
  child.kill(signal);
  return closed;
}

test('a run that was killed loses nothing: --resume asks only what is missing', async () => {
  const cwd = project();
  await stopMidway(cwd, 'SIGKILL', 3);
  const before = askedIn(cwd);
  expect(before.length).toBeLessThan(QUERIES);

  const { code, stdout } = await cli(['test', '--resume', '-f', 'json'], { cwd });
  expect(code).toBe(0);
  const { results } = JSON.parse(stdout) as { results: { id: string; status: string; answer: string }[] };
  expect(results.map(({ id, answer }) => `${id} ${answer}`)).toEqual(
    Array.from({ length: QUERIES }, (_, i) => `q${i} ok question ${i}`),
  );
  const again = askedIn(cwd).slice(before.length);
  // Three were finished; at most the one in progress when the kill came is asked twice.
  expect(again.length).toBeLessThanOrEqual(QUERIES - 3);
  for (const done of before.slice(0, 3)) expect(again).not.toContain(done);
  expect((await cli(['test', '--resume'], { cwd })).code).toBe(2);
});

test('Ctrl-C writes what is done and exits 130', async () => {
  const cwd = project();
  expect(await stopMidway(cwd, 'SIGINT', 2)).toBe(130);
  expect((await cli(['test', '--resume'], { cwd })).code).toBe(0);
});

test('a changed spec is not resumed', async () => {
  const cwd = project();
  await stopMidway(cwd, 'SIGKILL', 1);
  writeFileSync(join(cwd, 'agentci_spec.yaml'), spec('!'));
  const { code, stderr } = await cli(['test', '--resume'], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain('RESUME_SPEC_CHANGED');
});
