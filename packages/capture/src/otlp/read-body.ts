import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import type { PlaneRequest } from '../plane.ts';

/** Maximum size of one decompressed body. Exporters send far less. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Maximum size of all open bodies. An exporter has one or a few. */
const MAX_OPEN_BYTES = 128 * 1024 * 1024;

const unzip = promisify(gunzip);
const inflated = promisify(inflate);

/** The bytes of a request, or the reason why there are none. */
export type Body =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly why: 'too_large' | 'aborted' };

/** Reads bodies within a shared memory budget. */
export class BodyReader {
  #open = 0;

  read(request: PlaneRequest['request']): Promise<Body> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      let isDone = false;
      const finish = (body: Body): void => {
        if (isDone) return;
        isDone = true;
        this.#open -= size;
        resolve(body);
      };
      request.on('data', (chunk: Buffer) => {
        // The rest of an oversized body is read and discarded, so that the client gets its
        // response.
        if (isDone) return;
        size += chunk.length;
        this.#open += chunk.length;
        if (size > MAX_BODY_BYTES || this.#open > MAX_OPEN_BYTES) {
          chunks.length = 0;
          finish({ ok: false, why: 'too_large' });
        } else chunks.push(chunk);
      });
      request.on('end', () =>
        finish({ ok: true, bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) }),
      );
      request.on('close', () => finish({ ok: false, why: 'aborted' }));
    });
  }
}

/**
 * The decompressed bytes. Undefined if the protocol has no such encoding. Rejects damaged or
 * oversized bodies.
 */
export async function unpackBody(
  bytes: Buffer,
  encoding: string | undefined,
): Promise<Buffer | undefined> {
  const limit = { maxOutputLength: MAX_BODY_BYTES };
  switch (encoding?.trim().toLowerCase()) {
    case undefined:
    case '':
    case 'identity':
      return bytes;
    case 'gzip':
    case 'x-gzip':
      return unzip(bytes, limit);
    case 'deflate':
      return inflated(bytes, limit);
    default:
      return undefined;
  }
}

/** Whether the decompressed data exceeded the limit. */
export const isTooLarge = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | undefined)?.code === 'ERR_BUFFER_TOO_LARGE';
