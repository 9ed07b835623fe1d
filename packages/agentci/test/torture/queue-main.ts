import { findRedis } from '@agentci/testing/redis';
import { tortureQueue } from './queue-torture.ts';

// npm run torture:queue -- [kills] [seeds]: kills workers, Redis and the collector of one run at
// random. Stops at the first problem.
const kills = Number(process.argv[2] ?? 50);
const seeds = Number(process.argv[3] ?? 2);
const found = findRedis();
if ('missing' in found) {
  process.stderr.write(`${found.missing}\n`);
  process.exit(2);
}
for (let seed = 1; seed <= seeds; seed++) {
  const { problems, killed } = await tortureQueue({
    redis: found.path,
    queries: 40 * kills,
    workers: 3,
    kills,
    restarts: 3,
    seed,
  });
  process.stdout.write(
    `seed ${seed}: ${killed} workers killed: ${problems.length === 0 ? 'ok' : problems.join('; ')}\n`,
  );
  if (problems.length > 0) process.exit(1);
}
