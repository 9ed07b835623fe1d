import { setImmediate as nextTurn } from 'node:timers/promises';
import { unpacked } from '@agentci/formats';
import type { PlaneRequest } from '../plane.ts';
import type { ServedReply } from './answer.ts';
import { UsageFilter } from './ask-usage.ts';
import type { OpenExchange } from './exchange-book.ts';
import { writeHead } from './relay.ts';

type Outgoing = PlaneRequest['response'];

/**
 * Serves a stored reply in its chunks. The recorded chunks are complete, the sent ones may be
 * filtered.
 */
export async function serveReply(
  reply: ServedReply,
  response: Outgoing,
  exchange: OpenExchange,
): Promise<void> {
  const { served, recordedI } = reply;
  exchange.note(recordedI === undefined ? { served } : { served, recordedI });
  exchange.replied(reply.status, reply.headers);
  const isPacked = reply.headers['content-encoding'] !== undefined;
  const hides = reply.hidesUsage === true;
  const headers = Object.entries(reply.headers)
    .filter(([name]) => !(hides && name === 'content-encoding'))
    .flat();
  for (const chunk of reply.chunks) exchange.chunk(chunk);
  const [only] = reply.chunks;
  const isOne = reply.chunks.length === 1 && !hides && reply.cutOff === undefined;
  if (isOne && only !== undefined && !response.destroyed) {
    // A document, in one write.
    headers.push('content-length', String(only.length));
    writeHead(response, reply.status, '', headers);
    response.end(only);
    exchange.end({ complete: true });
    return;
  }
  writeHead(response, reply.status, '', headers);
  const filter = hides ? new UsageFilter() : undefined;
  const pieces = hides && isPacked ? [] : reply.chunks;
  if (hides && isPacked) {
    const whole = unpacked(Buffer.concat(reply.chunks), reply.headers['content-encoding']);
    send(response, filter!.push(whole));
  }
  for (const [i, chunk] of pieces.entries()) {
    // Chunks sent in one turn could arrive as one.
    if (i > 0) await nextTurn();
    if (response.destroyed) break;
    const isFull = !send(response, filter === undefined ? chunk : filter.push(chunk));
    if (isFull) await drained(response);
  }
  send(response, filter?.end());
  if (
    reply.cutOff !== undefined &&
    !response.destroyed &&
    !(await hangsUp(response, reply.cutOff.waitMs))
  ) {
    // Not a regular end: the client must not mistake the partial reply for a complete one.
    reply.cutOff.onReadOn();
    exchange.end({ complete: false, why: 'upstream_reset' });
    response.destroy();
    return;
  }
  if (reply.cutOff !== undefined || response.destroyed) {
    exchange.end({ complete: false, why: 'client_abort' });
    return;
  }
  response.end();
  exchange.end({ complete: true });
}

/** Whether the client ends the connection in time. */
const hangsUp = (response: Outgoing, waitMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const onClose = (): void => {
      clearTimeout(timer);
      resolve(true);
    };
    const timer = setTimeout(() => {
      response.off('close', onClose);
      resolve(false);
    }, waitMs);
    response.once('close', onClose);
  });

/** Sends a chunk. Returns whether the buffer has room for more. */
function send(response: Outgoing, chunk: Buffer | undefined): boolean {
  if (chunk === undefined || chunk.length === 0 || response.destroyed) return true;
  return (response as { write: (chunk: Buffer) => boolean }).write(chunk);
}

const drained = (response: Outgoing): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
