// Converts a suite of 10,000 cases of another tool: read, written as a table, and loaded again for
// validation.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTurns, timeCommand } from './measure.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const cli = join(here, '..', 'packages', 'agentci', 'dist', 'cli.mjs');

export function measureConvert({ quick = false } = {}) {
  const count = quick ? 1000 : 10_000;
  const dir = join(here, 'out', 'convert');
  mkdirSync(dir, { recursive: true });
  const rows = Array.from(
    { length: count },
    (_, i) => `question ${i},contains: ${i},equals: answer ${i}`,
  );
  writeFileSync(join(dir, 'tests.csv'), `q,__expected1,__expected2\n${rows.join('\n')}\n`);
  const { convert } = inTurns(quick ? 1 : 3, {
    convert: () =>
      timeCommand(process.execPath, [cli, 'convert', 'tests.csv', '--overwrite'], {
        cwd: dir,
        exit: 0,
      }),
  });
  return [
    {
      work: `\`agentci convert\`, ${count} cases with 2 assertions each`,
      measured: `${convert.seconds.toFixed(2)} s`,
      bound: '≤ 2 s',
      ok: convert.seconds <= 2,
    },
  ];
}
