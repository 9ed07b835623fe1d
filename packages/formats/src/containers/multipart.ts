import { parseJson } from '../build/values.ts';
import type { Unpacked } from './unpacked.ts';

const NAME = /content-disposition:[^\n]*?\bname="([^"\r\n]{1,500})"/i;

/**
 * A multipart body as text: every part is one record, `{part: name, value}`. Parts without JSON are
 * skipped, and damaged JSON is a problem.
 */
export function unpackMultipart(bytes: Uint8Array): Unpacked {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  const boundary = /^--[^\r\n]{1,200}/.exec(text)?.[0];
  if (boundary === undefined) return { records: [] };
  const records = [];
  const problems = [];
  let line = 1;
  for (const part of text.split(boundary)) {
    const [head, body] = splitHead(part);
    const name = head === undefined ? undefined : NAME.exec(head)?.[1];
    const value = body === undefined ? undefined : parseJson(body.trim());
    if (name !== undefined && value !== undefined)
      records.push({ value: { part: name, value }, line });
    else if (name !== undefined && /^\s*[{[]/.test(body ?? ''))
      problems.push({ code: 'TRACE_DAMAGED', message: `the part "${name}" is not JSON`, line });
    line += part.split('\n').length - 1;
  }
  return { records, problems };
}

function splitHead(part: string): [string?, string?] {
  const match = /\r?\n\r?\n/.exec(part);
  return match === null
    ? []
    : [part.slice(0, match.index), part.slice(match.index + match[0].length)];
}
