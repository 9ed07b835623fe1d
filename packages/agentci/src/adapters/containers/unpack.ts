import type { TraceProblem } from '../adapter.ts';
import { unpackCassette } from './cassette.ts';
import { unpackEvents } from './events.ts';
import { unpackMultipart } from './multipart.ts';
import { unpackProtobuf } from './protobuf.ts';
import type { Container } from './sniff.ts';
import { unpackZip } from './zip.ts';

/** A value found in a container, with the line it starts on where the container is text. */
export interface UnpackedRecord {
  readonly value: unknown;
  readonly line?: number;
}

export interface Unpacked {
  readonly records: readonly UnpackedRecord[];
  /** Set where the container is part of the format. */
  readonly format?: string;
  readonly problems?: readonly Pick<TraceProblem, 'code' | 'message' | 'line'>[];
}

/** Containers are unpacked whole; beyond this they are refused. */
export const MAX_CONTAINER_BYTES = 256 * 1024 * 1024;

const UNPACKERS: Readonly<Record<Container, (bytes: Uint8Array) => Unpacked>> = {
  zip: unpackZip,
  protobuf: unpackProtobuf,
  events: unpackEvents,
  multipart: unpackMultipart,
  cassette: unpackCassette,
};

/** The records in a container. What is damaged is a problem beside the records that could be read. */
export const unpack = (container: Container, bytes: Uint8Array): Unpacked => UNPACKERS[container](bytes);
