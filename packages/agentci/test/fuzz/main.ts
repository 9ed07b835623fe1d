// npm run fuzz [COUNT] [SEED]: reads mutated recordings and says what broke. Exit 1 when anything did.
import { fuzzRecordings } from './fuzz-recordings.ts';

const count = Number(process.argv[2] ?? 100_000);
const seed = Number(process.argv[3] ?? 1);
const CHUNK = 5000;
let broken = 0;
let slowest = 0;
for (let done = 0; done < count; done += CHUNK) {
  const report = await fuzzRecordings({ count: Math.min(CHUNK, count - done), seed: seed * 1_000_003 + done });
  broken += report.broken.length;
  slowest = Math.max(slowest, report.slowestMs);
  for (const line of report.broken) process.stdout.write(`BROKEN ${line}\n`);
  process.stdout.write(`${done + report.tried} read, ${broken} broken, slowest ${Math.round(slowest)} ms\n`);
}
process.exitCode = broken === 0 ? 0 : 1;
