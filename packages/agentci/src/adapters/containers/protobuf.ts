import type { Unpacked } from './unpack.ts';

/** OTLP requests as protobuf. */
export function unpackProtobuf(_bytes: Uint8Array): Unpacked {
  return { records: [], format: 'otlp-protobuf' };
}
