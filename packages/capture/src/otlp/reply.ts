import { PbfWriter } from 'pbf';
import type { PlaneRequest } from '../plane.ts';

export type Signal = 'traces' | 'logs' | 'metrics';

/** The outcome of a request. The protocol reports only the number of rejected items. */
export type Outcome =
  | { readonly status: 'ok'; readonly rejected: number }
  | {
      readonly status: 'bad' | 'too_large' | 'unknown_type' | 'stranger' | 'no_method';
      readonly message: string;
    };

const HTTP_STATUS = {
  bad: 400,
  too_large: 413,
  unknown_type: 415,
  stranger: 403,
  no_method: 404,
} as const;
const GRPC_STATUS = {
  bad: 3,
  too_large: 8,
  unknown_type: 12,
  stranger: 16,
  no_method: 12,
} as const;
const REJECTED = {
  traces: 'rejectedSpans',
  logs: 'rejectedLogRecords',
  metrics: 'rejectedDataPoints',
} as const;
const WHY_REJECTED = 'the capture keeps no more of this run';

/**
 * Responds over HTTP in the encoding of the request. Never with 5xx, because exporters would retry
 * and slow the agent down.
 */
export function replyHttp(
  response: PlaneRequest['response'],
  signal: Signal,
  { isJson, outcome }: { readonly isJson: boolean; readonly outcome: Outcome },
): void {
  if (response.headersSent || response.destroyed) return;
  const isOk = outcome.status === 'ok';
  const body = isJson
    ? Buffer.from(JSON.stringify(jsonReply(signal, outcome)))
    : protobufReply(outcome);
  (
    response as { writeHead: (status: number, headers: Record<string, string | number>) => unknown }
  ).writeHead(isOk ? 200 : HTTP_STATUS[outcome.status], {
    'content-type': isJson ? 'application/json' : 'application/x-protobuf',
    'content-length': body.length,
  });
  response.end(body);
}

function jsonReply(signal: Signal, outcome: Outcome): object {
  if (outcome.status !== 'ok')
    return { code: GRPC_STATUS[outcome.status], message: outcome.message };
  if (outcome.rejected === 0) return {};
  return {
    partialSuccess: { [REJECTED[signal]]: String(outcome.rejected), errorMessage: WHY_REJECTED },
  };
}

function protobufReply(outcome: Outcome): Buffer {
  const pbf = new PbfWriter();
  if (outcome.status !== 'ok') {
    pbf.writeVarintField(1, GRPC_STATUS[outcome.status]);
    pbf.writeStringField(2, outcome.message);
  } else if (outcome.rejected > 0)
    pbf.writeMessage(
      1,
      (rejected: number, inner) => {
        inner.writeVarintField(1, rejected);
        inner.writeStringField(2, WHY_REJECTED);
      },
      outcome.rejected,
    );
  return Buffer.from(pbf.finish());
}

/** Responds to a gRPC call. The status follows the message, or comes alone if there is none. */
export function replyGrpc(given: PlaneRequest['response'], outcome: Outcome): void {
  if (given.headersSent || given.destroyed) return;
  const response = given as import('node:http2').Http2ServerResponse;
  if (outcome.status !== 'ok') {
    response.writeHead(200, {
      'content-type': 'application/grpc',
      'grpc-status': String(GRPC_STATUS[outcome.status]),
      'grpc-message': encodeURIComponent(outcome.message),
    });
    response.end();
    return;
  }
  response.writeHead(200, { 'content-type': 'application/grpc' });
  response.addTrailers({ 'grpc-status': '0' });
  response.end(framed(protobufReply(outcome)));
}

const FRAME_HEAD = 5;

/** A message in the framing of gRPC: compression flag, length, bytes. */
export function framed(message: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** The single message of a call. Undefined if the frame is damaged. */
export function unframed(
  bytes: Buffer,
): { readonly isPacked: boolean; readonly message: Buffer } | undefined {
  if (bytes.length < FRAME_HEAD) return undefined;
  const length = bytes.readUInt32BE(1);
  if (bytes.length !== FRAME_HEAD + length) return undefined;
  return { isPacked: bytes[0] === 1, message: bytes.subarray(FRAME_HEAD) };
}
