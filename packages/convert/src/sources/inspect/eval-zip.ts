import { readFileSync, statSync } from 'node:fs';
import { UserError } from '@agentci/lib/problems';
import { unzipSync } from 'fflate';
import { MAX_FILE_BYTES, type SourceFile } from '../../folder.ts';
import { readJson } from '../../places.ts';
import type { Fields } from '../../values.ts';

const MAX_UNPACKED = 200_000_000;

/**
 * An `.eval` file is a zip with a header and one file per sample. Sizes are limited before
 * unpacking.
 */
export function readEvalZip(file: SourceFile): Fields {
  const refused = (why: string): UserError =>
    new UserError('CONVERT_UNREADABLE', `${file.name} ${why}`, { hint: 'Is it a log of Inspect?' });
  if (statSync(file.path).size > MAX_FILE_BYTES)
    throw refused(`is larger than ${MAX_FILE_BYTES / 1e6} MB`);
  let total = 0;
  let entries: Record<string, Uint8Array>;
  try {
    entries = unzipSync(readFileSync(file.path), {
      filter: ({ name, originalSize }) => {
        if (name !== 'header.json' && !/^samples\/.*\.json$/.test(name)) return false;
        total += originalSize;
        return total <= MAX_UNPACKED;
      },
    });
  } catch {
    throw refused('is not a zip file that can be read');
  }
  if (total > MAX_UNPACKED) throw refused(`unpacks to more than ${MAX_UNPACKED / 1e6} MB`);
  const parsed = (name: string): Fields =>
    readJson(Buffer.from(entries[name]!).toString('utf8'), `${file.name}/${name}`) as Fields;
  if (entries['header.json'] === undefined) throw refused('has no header.json');
  const samples = Object.keys(entries)
    .filter((name) => name !== 'header.json')
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  return { ...parsed('header.json'), samples: samples.map(parsed) };
}
