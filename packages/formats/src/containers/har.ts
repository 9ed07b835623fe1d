import { type Fields, isFields } from '@agentci/trace';
import { fields, objects, parseJson } from '../build/values.ts';
import { bodyOfBytes, bodyOfText } from './http-body.ts';
import { nothingRecorded, type Unpacked, type UnpackedRecord } from './unpacked.ts';

/**
 * Requests recorded as JSON: HAR files of browsers, proxies and test tools (`{log: {entries}}`),
 * and recorders with `{meta, recordings}`. Each is one record, as in a cassette, without headers.
 */
export function unpackHar(bytes: Uint8Array): Unpacked {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  const root = fields(parseJson(text.replace(/^\uFEFF/, '')));
  const entries = [fields(root.log).entries, root.recordings, root.entries].find((list) =>
    Array.isArray(list),
  );
  if (entries === undefined)
    return {
      records: [],
      problems: [
        { code: 'TRACE_DAMAGED', message: 'the HAR file is damaged, or has no entries', line: 1 },
      ],
    };
  if (objects(entries).length === 0) return nothingRecorded('HAR file');
  return { records: objects(entries).map(interaction) };
}

function interaction({ request: asked, response: answered }: Fields): UnpackedRecord {
  const request = fields(asked);
  const response = fields(answered);
  return {
    value: {
      method: request.method,
      uri: request.url,
      request: isFields(request.postData) ? postOf(request.postData) : bodyOf(request.body),
      status: response.status,
      response: isFields(response.content) ? contentOf(response.content) : replyOf(response),
    },
  };
}

const postOf = ({ text, encoding }: Fields): unknown => contentOf({ text, encoding });

function contentOf({ text, encoding }: Fields): unknown {
  if (typeof text !== 'string') return undefined;
  return encoding === 'base64' ? bodyOfBytes(Buffer.from(text, 'base64')) : bodyOfText(text);
}

const bodyOf = (body: unknown): unknown => (typeof body === 'string' ? bodyOfText(body) : body);

/** A streamed reply is kept in the pieces it came in. */
function replyOf({ body, chunks }: Fields): unknown {
  if (!Array.isArray(chunks) || chunks.length === 0) return bodyOf(body);
  const pieces = chunks.map((chunk) => (isFields(chunk) ? (chunk.data ?? chunk.text) : chunk));
  return pieces.every((piece) => typeof piece === 'string') ? bodyOfText(pieces.join('')) : chunks;
}
