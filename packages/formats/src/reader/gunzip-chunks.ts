import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

/** Unpacks gzip in chunks. */
export async function* unzipped(
  first: Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
  chunkSize: number,
): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize });
  async function* packed(): AsyncGenerator<Uint8Array> {
    yield first;
    yield* rest;
  }
  const feeding = pipeline(Readable.from(packed()), gunzip);
  // The reader below gets the same error; without this handler it would also be unhandled.
  feeding.catch(() => undefined);
  for await (const chunk of gunzip) yield chunk as Uint8Array;
  await feeding;
}
