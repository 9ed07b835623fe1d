import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { objects } from '../../adapters/build/values.ts';
import { idOf } from '../../adapters/otel/read-otlp.ts';
import { systemErrorText } from '../../kit/system-error.ts';
import { UserError } from '../../kit/user-error.ts';
import { type Fields, isFields } from '../../trace/fields.ts';
import { type CaptureResult, readEvidence } from '../captured-run.ts';
import { refuse } from '../refuse.ts';
import { openOtlpPlane } from './otlp-plane.ts';
import { SpanBook, type Taken } from './span-book.ts';

/** Where exporters send spans when nothing is set. */
export const DEFAULT_PORT = 4318;
const QUIET_MS = 300;
const MAX_MS = 5000;
const POLL_MS = 20;

/** Sees what an agent that was started elsewhere tells about one query. */
export interface TraceSlot {
  /** To be sent with the query. */
  readonly headers: Readonly<Record<string, string>>;
  readonly end: () => Promise<CaptureResult>;
}

export interface TraceReceiver {
  readonly port: number;
  readonly open: () => TraceSlot;
  readonly close: () => Promise<void>;
}

interface Query {
  readonly book: SpanBook;
  lastAt: number;
}

/**
 * Receives spans of an agent that many queries share. Its environment is out of reach, so it must send its spans here by
 * itself; which query they belong to is known by the trace that the query began, and by nothing else.
 */
export async function receiveByTraceparent(options: {
  readonly port: number;
  readonly now?: () => number;
}): Promise<TraceReceiver> {
  const { now = Date.now } = options;
  const queries = new Map<string, Query>();
  let isSending = false;
  let strangers = 0;

  const add = (request: unknown, size: number): Taken => {
    isSending = true;
    const sum = { kept: 0, rejected: 0, late: 0 };
    for (const [traceId, part] of byTrace(request)) {
      const query = queries.get(traceId);
      if (query === undefined) {
        strangers++;
        continue;
      }
      query.lastAt = now();
      const taken = query.book.add(part, size);
      sum.kept += taken.kept;
      sum.rejected += taken.rejected;
    }
    return sum;
  };

  const context = { origin: '', base: '', token: randomBytes(16).toString('hex'), env: {}, now };
  const plane = openOtlpPlane(context, { endsWithRun: false, into: { add } });
  const server = createServer((request, response) => {
    const isOurs = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(request.headers.host ?? '');
    if (isOurs && request.headers.origin === undefined) plane.handle({ path: request.url ?? '', request, response });
    else refuse(response, 403, 'requests of web pages are not taken');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new UserError(
          'CAPTURE_PORT',
          `spans cannot be received on port ${options.port}: ${systemErrorText(error) ?? error.message}`,
          {
            hint: 'Set AGENTCI_OTLP_PORT to a free port, and send the spans of the agent there.',
          },
        ),
      ),
    );
    server.listen(options.port, '127.0.0.1', resolve);
  });

  return {
    port: (server.address() as AddressInfo).port,
    open: () => {
      const traceId = randomBytes(16).toString('hex');
      const spanId = randomBytes(8).toString('hex');
      const query: Query = {
        book: new SpanBook({ since: Number.NEGATIVE_INFINITY, outside: new Set([spanId]) }),
        lastAt: 0,
      };
      queries.set(traceId, query);
      const wasSending = isSending;
      const isFirst = queries.size === 1;
      return {
        headers: { traceparent: `00-${traceId}-${spanId}-01` },
        end: async () => {
          const began = now();
          const silence = wasSending || isFirst || isSending ? QUIET_MS : 0;
          while (now() - began < MAX_MS && now() - Math.max(query.lastAt, began) < silence) await sleep(POLL_MS);
          queries.delete(traceId);
          const telemetry = query.book.requests();
          const { rejected } = query.book.counts;
          const notes =
            telemetry.length > 0 || strangers === 0
              ? []
              : [
                  {
                    code: 'CAPTURE_NOT_ATTRIBUTABLE',
                    message: `spans came, but none of the trace that this query began: the agent must continue the trace of the header traceparent`,
                  },
                ];
          return readEvidence(
            {
              exchanges: [],
              telemetry,
              gaps: rejected === 0 ? [] : [{ gap: 'spansLost', detail: `${rejected} beyond the limit of one query` }],
              notes,
            },
            traceId,
          );
        },
      };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A request as one for each trace in it. */
function byTrace(request: unknown): Map<string, object> {
  const parts = new Map<string, { resourceSpans: object[]; resourceLogs: object[] }>();
  const partOf = (traceId: string) => {
    const known = parts.get(traceId) ?? { resourceSpans: [], resourceLogs: [] };
    parts.set(traceId, known);
    return known;
  };
  const root = isFields(request) ? request : {};
  for (const { resource, scopeSpans } of objects(root.resourceSpans))
    for (const { scope, spans } of objects(scopeSpans))
      for (const [traceId, own] of grouped(spans))
        partOf(traceId).resourceSpans.push({ resource, scopeSpans: [{ scope, spans: own }] });
  for (const { resource, scopeLogs } of objects(root.resourceLogs))
    for (const { scope, logRecords } of objects(scopeLogs))
      for (const [traceId, own] of grouped(logRecords))
        partOf(traceId).resourceLogs.push({ resource, scopeLogs: [{ scope, logRecords: own }] });
  return parts;
}

function grouped(list: unknown): Map<string, Fields[]> {
  const groups = new Map<string, Fields[]>();
  for (const item of objects(list)) {
    const traceId = idOf(item.traceId, 32) ?? '';
    const same = groups.get(traceId);
    if (same === undefined) groups.set(traceId, [item]);
    else same.push(item);
  }
  return groups;
}
