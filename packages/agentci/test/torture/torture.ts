import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '../../src/stats/seeded-random.ts';
import { CLI } from '../support/cli.ts';

interface TortureOptions {
  /** How often a run is killed before it may finish. */
  readonly rounds: number;
  readonly queries: number;
  readonly seed: number;
}

const AGENT = `
import { appendFileSync } from 'node:fs';
export default async (query) => {
  appendFileSync('asked.log', query + '\\n');
  await new Promise((resolve) => setTimeout(resolve, 40));
  return { answer: 'ok ' + query + ' ' + 'x'.repeat(2000), tool_calls: [] };
};
`;

/**
 * Kills a run with SIGKILL at times of chance, resumes it with several processes at once, and looks at what is left after
 * every round: each finished result stays, no line is damaged, no query is finished twice, and in the end all are there.
 */
export async function torture({ rounds, queries, seed }: TortureOptions): Promise<{ problems: string[] }> {
  const random = seededRandom(seed);
  const cwd = mkdtempSync(join(tmpdir(), 'agentci-torture-'));
  const problems: string[] = [];
  try {
    mkdirSync(cwd, { recursive: true });
    const list = Array.from(
      { length: queries },
      (_, i) => `  - {id: q${i}, query: question ${i}, correctness: {expected_in_answer: [ok]}}`,
    );
    writeFileSync(
      join(cwd, 'agentci_spec.yaml'),
      `agent: demo\nrunner: {module: ./agent.mjs}\nqueries:\n${list.join('\n')}\n`,
    );
    writeFileSync(join(cwd, 'agent.mjs'), AGENT);
    let before: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const args = existsSync(join(cwd, '.agentci')) ? ['test', '--resume', '-w', '2'] : ['test', '-w', '2'];
      const count = round === 0 ? 1 : 3;
      const codes = await Promise.all(
        Array.from({ length: count }, () => run(args, cwd, round === rounds - 1 ? undefined : 250 + random() * 500)),
      );
      const unforeseen = codes.filter((code) => code !== null && code !== 0 && code !== 2);
      if (unforeseen.length > 0) problems.push(`round ${round}: exit codes ${codes.join(', ')}`);
      const found = finishedIn(cwd, problems, round);
      for (const id of before) if (!found.includes(id)) problems.push(`round ${round}: ${id} was finished and is lost`);
      if (new Set(found).size !== found.length) problems.push(`round ${round}: a query was finished twice`);
      before = found;
      if (codes.includes(0)) break;
    }
    // Whoever was killed last left a run that one more process completes.
    if (before.length < queries) {
      const code = await run(['test', '--resume'], cwd, undefined);
      if (code !== 0) problems.push(`the last --resume exited ${code}`);
      before = finishedIn(cwd, problems, rounds);
    }
    if (before.length !== queries) problems.push(`${before.length} of ${queries} queries are in the journal`);
    return { problems };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

/** The exit code; null when it was killed. */
function run(args: readonly string[], cwd: string, killAfterMs: number | undefined): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [CLI, ...args], { cwd, stdio: 'ignore' });
    const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve(code);
    });
  });
}

function finishedIn(cwd: string, problems: string[], round: number): string[] {
  const root = join(cwd, '.agentci', 'runs');
  const runs = existsSync(root) ? readdirSync(root) : [];
  if (runs.length > 1) problems.push(`round ${round}: ${runs.length} runs`);
  const journal = join(root, runs[0] ?? '', 'results.jsonl');
  if (runs.length === 0 || !existsSync(journal)) return [];
  const text = readFileSync(journal, 'utf8');
  // The line a kill cut off is no result.
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(1, -1);
  return lines.flatMap((line) => {
    try {
      return [(JSON.parse(line) as { id: string }).id];
    } catch {
      problems.push(`round ${round}: a damaged line: ${line.slice(0, 80)}`);
      return [];
    }
  });
}
