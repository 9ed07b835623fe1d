import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '@agentci/stats';
import { cliProcess } from '@agentci/testing/cli';
import { type Started, start, startWorker, withoutTimes } from '@agentci/testing/fleet';
import { startRedis } from '@agentci/testing/redis';

export interface QueueTorture {
  /** Path of a redis-server. */
  readonly redis: string;
  readonly queries: number;
  readonly workers: number;
  /** Number of workers to kill. */
  readonly kills: number;
  /** Number of Redis restarts, and of collector kills with resume. */
  readonly restarts: number;
  readonly seed: number;
}

const AGENT = `
export default async (query) => {
  await new Promise((resolve) => setTimeout(resolve, 20 + query.length * 3));
  return { answer: 'ok ' + query, cost_usd: 0.001 };
};
`;

/**
 * Runs over a queue while workers, Redis and the collector are killed at random. Returns the
 * differences from a local run.
 */
export async function tortureQueue({
  redis,
  queries,
  workers,
  kills,
  restarts,
  seed,
}: QueueTorture): Promise<{ problems: string[]; killed: number }> {
  const random = seededRandom(seed);
  const cwd = mkdtempSync(join(tmpdir(), 'agentci-fleet-'));
  // Redis flushes every write, as needed for restarts during a run. Half of the restarts lose
  // everything anyway.
  const server = await startRedis(redis, [
    '--appendonly',
    seed % 2 === 0 ? 'yes' : 'no',
    '--save',
    '',
  ]);
  const fleet: Started[] = [];
  const problems: string[] = [];
  let killed = 0;
  const journal = (): string[] => {
    try {
      const [folder = ''] = readdirSync(join(cwd, '.agentci/runs'));
      return readFileSync(join(cwd, '.agentci/runs', folder, 'results.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .slice(1);
    } catch {
      return [];
    }
  };
  try {
    writeFileSync(join(cwd, 'agent.mjs'), AGENT);
    writeFileSync(
      join(cwd, 'agentci_spec.yaml'),
      `version: 1\nagent: fleet\nrunner: {module: ./agent.mjs}\nqueries:\n${Array.from(
        { length: queries },
        (_, i) =>
          `  - {id: q${i}, query: question ${i}, correctness: {expected_in_answer: [${i % 7 === 0 ? 'never' : `question ${i}`}]}}\n`,
      ).join('')}`,
    );
    const local = await cliProcess(['test', '-f', 'json', '-w', '20'], { cwd });
    rmSync(join(cwd, '.agentci'), { recursive: true, force: true });
    const hire = async (): Promise<void> => {
      fleet.push(await startWorker(server.url, { cwd, slots: 4 }));
    };
    for (let i = 0; i < workers; i++) await hire();
    const collect = (more: string[]): Started =>
      start(['test', '-f', 'json', '--queue', server.url, ...more], { cwd });
    let run = collect([]);
    let isOver = false;
    const watch = async (): Promise<number | null> => {
      const code = await run.ended;
      isOver = true;
      return code;
    };
    let ended = watch();
    for (let event = 0; event < kills + 2 * restarts && !isOver; event++) {
      await sleep(50 + random() * 250);
      const isRestart =
        restarts > 0 && event % Math.ceil((kills + 2 * restarts) / (2 * restarts)) === 1;
      if (!isRestart) {
        const victim = fleet.splice(Math.floor(random() * fleet.length), 1)[0];
        victim?.child.kill('SIGKILL');
        killed++;
        void hire().catch(() => {});
      } else if (random() < 0.5)
        await server.restart(random() < 0.5 ? 'SIGKILL' : 'SIGTERM', random() * 300);
      else if (journal().length > 0) {
        run.child.kill('SIGKILL');
        await ended;
        isOver = false;
        run = collect(['--resume']);
        ended = watch();
      }
    }
    const code = await ended;
    if (code !== local.code)
      problems.push(`exit ${code} instead of ${local.code}: ${run.stderr().slice(-500)}`);
    else {
      const expected = withoutTimes(JSON.parse(local.stdout)) as { notices: unknown };
      const got = withoutTimes(JSON.parse(run.stdout())) as { notices: unknown };
      // Duplicates are reported. Nothing else may differ.
      if (JSON.stringify({ ...got, notices: [] }) !== JSON.stringify({ ...expected, notices: [] }))
        problems.push(`the report differs from the local one${differing(got, expected)}`);
    }
    const ids = journal().map((line) => (JSON.parse(line) as { id: string }).id);
    if (ids.length !== queries || new Set(ids).size !== queries)
      problems.push(
        `${ids.length} results of ${new Set(ids).size} different queries instead of ${queries}`,
      );
  } finally {
    for (const { child } of fleet) child.kill('SIGKILL');
    await server.stop();
    rmSync(cwd, { recursive: true, force: true });
  }
  return { problems, killed };
}

/** The first results that differ from the local run. */
function differing(got: object, expected: object): string {
  type Results = {
    readonly id: string;
    readonly status: string;
    readonly error?: { readonly message: string };
  }[];
  const { results } = got as { results: Results };
  const { results: wanted } = expected as { results: Results };
  const others = results.filter(
    (result, i) => JSON.stringify(result) !== JSON.stringify(wanted[i]),
  );
  const texts = others
    .slice(0, 3)
    .map(({ id, status, error }) => `${id} ${status} ${error?.message ?? ''}`.trim());
  return others.length === 0 ? '' : ` in ${others.length}: ${texts.join('; ')}`;
}
