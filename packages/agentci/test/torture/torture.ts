import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from '@agentci/stats';
import { CLI } from '@agentci/testing/cli';

interface TortureOptions {
  /** Number of kills before a run may finish. */
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
 * Kills a run with SIGKILL at random times, resumes it with several concurrent processes, and
 * checks the state after every round: each finished result stays, no line is damaged, no query
 * finishes twice, and in the end all are there.
 */
export async function torture({
  rounds,
  queries,
  seed,
}: TortureOptions): Promise<{ problems: string[] }> {
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
    // A run can be resumed after its first result. From then on, the time of the kill is random.
    const isStarted = (): boolean => finishedIn(cwd, [], 0).length > 0;
    await run(['test', '-w', '2'], cwd, { after: isStarted, ms: random() * 100 });
    let before = finishedIn(cwd, problems, 0);
    for (let round = 1; round < rounds; round++) {
      const kill = round === rounds - 1 ? undefined : { ms: 250 + random() * 500 };
      const codes = await Promise.all(
        [0, 1, 2].map(() => run(['test', '--resume', '-w', '2'], cwd, kill)),
      );
      const unforeseen = codes.filter((code) => code !== null && code !== 0 && code !== 2);
      if (unforeseen.length > 0) problems.push(`round ${round}: exit codes ${codes.join(', ')}`);
      const found = finishedIn(cwd, problems, round);
      for (const id of before)
        if (!found.includes(id)) problems.push(`round ${round}: ${id} was finished and is lost`);
      if (new Set(found).size !== found.length)
        problems.push(`round ${round}: a query was finished twice`);
      before = found;
      if (codes.includes(0)) break;
    }
    // One more process completes the run that was killed last.
    if (before.length < queries) {
      const code = await run(['test', '--resume'], cwd, undefined);
      if (code !== 0) problems.push(`the last --resume exited ${code}`);
      before = finishedIn(cwd, problems, rounds);
    }
    if (before.length !== queries)
      problems.push(`${before.length} of ${queries} queries are in the journal`);
    return { problems };
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

/** The exit code. Null if killed. */
function run(
  args: readonly string[],
  cwd: string,
  kill: { readonly ms: number; readonly after?: () => boolean } | undefined,
): Promise<number | null> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [CLI, ...args], { cwd, stdio: 'ignore' });
    let timer: NodeJS.Timeout | undefined;
    const killSoon = (): void => {
      if (kill?.after?.() === false) timer = setTimeout(killSoon, 10);
      else if (kill !== undefined) timer = setTimeout(() => child.kill('SIGKILL'), kill.ms);
    };
    killSoon();
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
  // A line truncated by a kill is not a result.
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
