import { unzipSync } from 'fflate';
import { parseJson } from '../build/values.ts';
import { MAX_CONTAINER_BYTES, type Unpacked } from './unpacked.ts';

const MAX_FILES = 100_000;

const RECORDING = /\.(?:jsonl?|ndjson|traj|har|sse)$/i;
/** Entries of an Inspect log, which is a zip. */
const LOG = /^(?:header\.json|_journal\/|samples\/|summaries\.json|logs\/)/;

/**
 * The recordings in a zip, each read as a file. Undefined if the zip is one recording, or damaged.
 */
export function filesInZip(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> | undefined {
  let total = 0;
  let isWhole = false;
  try {
    const files = unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        total += originalSize;
        isWhole ||= LOG.test(name) || total > MAX_CONTAINER_BYTES;
        return !isWhole && RECORDING.test(name) && !name.startsWith('__MACOSX/');
      },
    });
    const found = Object.entries(files).toSorted(([a], [b]) => Number(a > b) - Number(a < b));
    return isWhole || found.length === 0 || found.length > MAX_FILES ? undefined : new Map(found);
  } catch {
    return undefined;
  }
}

/**
 * A zip file: every JSON file in it is one record, `{file, value}`. Sizes are checked before
 * unpacking.
 */
export function unpackZip(bytes: Uint8Array): Unpacked {
  let total = 0;
  let count = 0;
  let isTooLarge = false;
  try {
    const files = unzipSync(bytes, {
      filter: ({ name, originalSize }) => {
        if (!/\.jsonl?$/i.test(name)) return false;
        total += originalSize;
        count++;
        isTooLarge ||= total > MAX_CONTAINER_BYTES || count > MAX_FILES;
        return !isTooLarge;
      },
    });
    if (isTooLarge)
      return refused('TRACE_TOO_LARGE', 'the zip file unpacks to more than can be read');
    const problems = [];
    const records = [];
    for (const [file, content] of Object.entries(files)) {
      const text = Buffer.from(content.buffer, content.byteOffset, content.length).toString('utf8');
      const value = parseJson(text.replace(/^\uFEFF/, ''));
      if (value === undefined)
        problems.push({ code: 'TRACE_DAMAGED', message: `${file} in the zip file is not JSON` });
      else records.push({ value: { file, value } });
    }
    return { records, problems };
  } catch {
    return refused('TRACE_DAMAGED', 'the zip file is damaged');
  }
}

const refused = (code: string, message: string): Unpacked => ({
  records: [],
  problems: [{ code, message }],
});
