import { dataStreamPart } from '../build/data-stream-part.ts';
import type { Unpacked, UnpackedRecord } from './unpacked.ts';

/** The data stream of Vercel AI SDK version 4, `0:"text"`, one part per line. */
export function unpackDataStream(bytes: Uint8Array): Unpacked {
  const records: UnpackedRecord[] = [];
  const problems: { code: string; message: string; line: number }[] = [];
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue;
    const value = dataStreamPart(line);
    if (value !== undefined) records.push({ value, line: i + 1 });
    else
      problems.push({
        code: 'TRACE_DAMAGED',
        message: 'the line is not a part of a data stream',
        line: i + 1,
      });
  }
  return { records, problems, format: 'vercel-ai-sdk' };
}
