import { unpackCassette } from './cassette.ts';
import { unpackDataStream } from './data-stream.ts';
import { unpackEvents } from './events.ts';
import { unpackHar } from './har.ts';
import { unpackHttprr } from './httprr.ts';
import { unpackMultipart } from './multipart.ts';
import { unpackProtobuf } from './protobuf.ts';
import type { Container } from './sniff.ts';
import type { Unpacked } from './unpacked.ts';
import { unpackZip } from './zip.ts';

const UNPACKERS: Readonly<Record<Container, (bytes: Uint8Array) => Unpacked>> = {
  zip: unpackZip,
  protobuf: unpackProtobuf,
  events: unpackEvents,
  multipart: unpackMultipart,
  cassette: unpackCassette,
  har: unpackHar,
  httprr: unpackHttprr,
  'data-stream': unpackDataStream,
};

/** The records in a container. Damaged parts are problems next to the readable records. */
export const unpack = (container: Container, bytes: Uint8Array): Unpacked =>
  UNPACKERS[container](bytes);
