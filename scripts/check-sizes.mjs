// Two sizes that users feel: the installed program, and the page of every HTML report.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const LIMITS = [
  ['packages/agentci/dist', 7_000_000, folderSize('packages/agentci/dist')],
  [
    'the report page, gzipped',
    80_000,
    gzipSync(readFileSync('packages/reporters/src/html/page.gen.ts')).length,
  ],
];

function folderSize(dir) {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

for (const [name, limit, size] of LIMITS) {
  console.log(
    `${name}: ${size.toLocaleString('en')} of at most ${limit.toLocaleString('en')} bytes`,
  );
  if (size > limit) process.exitCode = 1;
}
