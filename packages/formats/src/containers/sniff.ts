/** Containers of recordings besides plain JSON and gzip. */
export type Container =
  | 'zip'
  | 'protobuf'
  | 'events'
  | 'multipart'
  | 'cassette'
  | 'har'
  | 'httprr'
  | 'data-stream';

/** Two bytes start every gzip file, whatever its name. */
export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

const HEAD_BYTES = 4096;

/**
 * The container according to the first bytes. Undefined for JSON, JSON lines and anything unknown.
 */
export function containerOf(bytes: Uint8Array): Container | undefined {
  const head = bytes.subarray(0, HEAD_BYTES);
  if (head[0] === 0x50 && head[1] === 0x4b && head[2] === 0x03 && head[3] === 0x04) return 'zip';
  const text = Buffer.from(head.buffer, head.byteOffset, head.length)
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '');
  // A blank line before JSON begins as a message of that length does.
  const isJson = /^\s*[{["]/.test(text) && !CONTROL.test(text);
  if (!isJson && looksLikeProtobuf(head)) return 'protobuf';
  if (/^\s*[{["]/.test(text)) return requestsIn(text);
  if (/^httprr trace v\d+\r?\n/.test(text)) return 'httprr';
  if (/^--[^\r\n]{1,200}\r?\ncontent-disposition:/i.test(text)) return 'multipart';
  if (
    /^(?:(?:#|---|%)[^\n]*\n|\s)*(?:(?:version|recorded_with):[^\n]*\n)*(?:(?:http_)?interactions:|requests:\s*\n\s*- (?:body|headers|method|uri):)/.test(
      text,
    )
  )
    return 'cassette';
  if (DATA_STREAM.test(text)) return 'data-stream';
  return /^(?:[^\n]{0,200}\n){0,4}?(?:data|event): ?/.test(text) ? 'events' : undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: bytes that no text has are what is looked for
const CONTROL = /[\u0000-\u0008\u000e-\u001f]/;
/** The stream of version 4 of the Vercel AI SDK: a letter, a colon and JSON. */
const DATA_STREAM = /^(?:[0-9a-k]:(?:["{[][^\n]*)\r?\n){1,3}[0-9a-k]:["{[]/;
const HAR = /^\s*\{\s*"log"\s*:\s*\{[\s\S]*?"(?:version|creator|_recordingName|entries|pages)"\s*:/;
const RECORDER = /^\s*\{\s*"meta"\s*:\s*\{[^{}]*\}\s*,\s*"recordings"\s*:\s*\[/;
const JSON_CASSETTE =
  /^\s*\{\s*(?:"(?:version|recorded_with)"\s*:\s*[^,{[]{1,80},\s*)?"(?:http_)?interactions"\s*:\s*\[\s*\{\s*"(?:request|response|recorded_at)"/;

/** Recorders of HTTP that write JSON. */
function requestsIn(text: string): Container | undefined {
  if (HAR.test(text) || RECORDER.test(text)) return 'har';
  return JSON_CASSETTE.test(text) ? 'cassette' : undefined;
}

/** An OTLP request: the field 1 of its message, with a length that a JSON text or a line of text does not have. */
function looksLikeProtobuf(head: Uint8Array): boolean {
  if (head[0] !== 0x0a || head.length < 4) return false;
  let at = 1;
  while (at < 6 && at < head.length && head[at]! >= 0x80) at++;
  // In ResourceSpans and ResourceLogs the first field is the resource, or the scope if that is
  // absent.
  const inner = head[at + 1];
  return inner === 0x0a || inner === 0x12;
}
