import { matchRules, provenText, readCassette } from '@agentci/capture';
import { plural } from '@agentci/lib/text';
import {
  cassettePath,
  readCassetteFile,
  removeCassetteFile,
  runSuite,
  writeCassetteFile,
} from '@agentci/run';
import type { Io } from '../cli/io.ts';
import { type CassetteFlags, type CassettePlace, complain, findCassettes, say } from './place.ts';
import { replayOptions } from './replay-options.ts';

/**
 * Replays every query and removes unused exchanges from its cassette. Cassettes with a miss stay
 * unchanged.
 */
export async function dropUnused(
  { suite, dir }: CassettePlace,
  options: { readonly id?: string; readonly workers?: number },
  io: Io,
): Promise<readonly string[]> {
  const lines: string[] = [];
  await runSuite({
    ...replayOptions({ suite, dir }, options, io),
    sink: {
      record: ({ id, run, result }) => {
        const { unused_exchanges: unused = [], mcp_unused: calls = 0 } = result.cassette ?? {};
        if (result.error === undefined && calls > 0)
          lines.push(
            `left ${plural(calls, 'call')} to MCP servers in ${id}: not made this time; record it again if that is meant`,
          );
        if (result.error !== undefined) lines.push(`left ${id} as it is: ${result.error.message}`);
        else if (unused.length > 0) {
          dropEntries(
            dir,
            cassettePath(dir, { agent: suite.agent, id, run, cell: result.cell }),
            unused,
          );
          lines.push(
            `removed ${plural(unused.length, 'exchange')} of ${id}${run === 1 ? '' : ` run ${run}`}`,
          );
        }
      },
    },
  });
  return lines.length === 0 ? ['every recorded exchange is in use'] : lines;
}

function dropEntries(dir: string, path: string, places: readonly number[]): void {
  const cassette = readCassette(readCassetteFile(dir, path) ?? '', path);
  const kept = cassette.entries
    .filter(({ i }) => !places.includes(i))
    .map((entry, at) => ({ ...entry, i: at + 1 }));
  writeCassetteFile(
    dir,
    path,
    provenText({ ...cassette, entries: kept }, matchRules(cassette), path),
  );
}

export async function pruneCassettes(
  place: CassettePlace,
  options: CassetteFlags,
  io: Io,
): Promise<number> {
  const found = findCassettes(place, options.id);
  const orphans = found.filter(({ orphan }) => orphan !== undefined);
  for (const { path, file, orphan } of orphans) {
    removeCassetteFile(place.dir, path);
    say(io, `removed ${file}: ${orphan}`);
  }
  if (orphans.length === 0) say(io, 'every cassette belongs to a query: no file to remove');
  if (options.unused === true)
    for (const line of await dropUnused(place, options, io)) say(io, line);
  const broken = found.filter(({ error }) => error !== undefined);
  for (const { error } of broken) complain(io, error!);
  return broken.length > 0 ? 2 : 0;
}
