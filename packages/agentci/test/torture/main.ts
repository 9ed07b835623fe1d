import { torture } from './torture.ts';

// npm run torture -- [minutes]: kills and resumes runs with a new seed each time, and stops at the
// first problem.
const minutes = Number(process.argv[2] ?? 5);
const until = Date.now() + minutes * 60_000;
for (let seed = 1; Date.now() < until; seed++) {
  const { problems } = await torture({ rounds: 8, queries: 30, seed });
  process.stdout.write(`seed ${seed}: ${problems.length === 0 ? 'ok' : problems.join('; ')}\n`);
  if (problems.length > 0) process.exit(1);
}
