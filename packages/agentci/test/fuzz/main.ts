// npm run fuzz [COUNT] [SEED]: removes every part of every recording in turn, then reads mutated
// recordings and reports failures. Exit 1 if there are any.
import { fileURLToPath } from 'node:url';
import { checkRemovals } from '../conformance/evidence.ts';
import { fuzzRecordings } from './fuzz-recordings.ts';

const count = Number(process.argv[2] ?? 100_000);
const seed = Number(process.argv[3] ?? 1);
const CHUNK = 5000;
let broken = 0;
let slowest = 0;
let hiding = 0;
for (const root of ['../../../testing/recordings', '../../../../../shared/traces']) {
  const path = fileURLToPath(new URL(root, import.meta.url));
  const { tried, lost } = await checkRemovals(path, Number.POSITIVE_INFINITY);
  broken += lost.length;
  for (const line of lost) process.stdout.write(`BROKEN ${line}\n`);
  process.stdout.write(`${tried} parts taken out, ${broken} broken\n`);
}
for (let done = 0; done < count; done += CHUNK) {
  const report = await fuzzRecordings({
    count: Math.min(CHUNK, count - done),
    seed: seed * 1_000_003 + done,
  });
  broken += report.broken.length;
  hiding += report.hiding;
  slowest = Math.max(slowest, report.slowestMs);
  for (const line of report.broken) process.stdout.write(`BROKEN ${line}\n`);
  process.stdout.write(
    `${done + report.tried} read, ${hiding} with calls hidden, ${broken} broken, slowest ${Math.round(slowest)} ms\n`,
  );
}
process.exitCode = broken === 0 ? 0 : 1;
