import { parseJson } from '../build/values.ts';
import type { Unpacked, UnpackedRecord } from './unpacked.ts';

/** Server-sent events: the data of each event, parsed. Comments, `[DONE]` and lines that are not fields are passed over. */
export function unpackEvents(bytes: Uint8Array): Unpacked {
  const { records, broken } = eventsIn(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'),
  );
  return {
    records,
    problems: broken.map((line) => ({
      code: 'TRACE_DAMAGED',
      message: 'the data of an event is not JSON',
      line,
    })),
  };
}

/** The events of a stream kept as text, e.g. the body of a recorded reply. */
export function eventsIn(text: string): {
  readonly records: UnpackedRecord[];
  readonly broken: number[];
} {
  const records: UnpackedRecord[] = [];
  const broken: number[] = [];
  let data: string[] = [];
  let start = 0;
  const flush = (): void => {
    const joined = data.join('\n');
    data = [];
    if (joined === '' || joined.trim() === '[DONE]') return;
    const value = parseJson(joined);
    if (value === undefined) broken.push(start);
    else records.push({ value, line: start });
  };
  for (const [i, line] of text.split(/\r\n|\r|\n/).entries()) {
    if (line === '') flush();
    else if (line.startsWith('data:')) {
      if (data.length === 0) start = i + 1;
      data.push(line.startsWith('data: ') ? line.slice(6) : line.slice(5));
    }
  }
  flush();
  return { records, broken };
}
