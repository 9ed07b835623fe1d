import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GapNote } from '@agentci/formats';
import { isSystemError, systemErrorText, UserError } from '@agentci/lib/problems';
import { type CaptureResult, readEvidence } from '../captured-run.ts';
import { type Front, openFront } from '../front.ts';
import type { CaptureNote, Plane } from '../plane.ts';
import { openOtlpPlane } from './otlp-plane.ts';
import { SpanBook, type Taken } from './span-book.ts';
import { type TracePart, traceParts } from './trace-parts.ts';

/** Time limits for waiting for spans, in milliseconds. */
interface Patience {
  /** After the span of the whole request, this much silence means that no more will come. */
  readonly quietMs: number;
  readonly maxMs: number;
}

const PATIENCE: Patience = { quietMs: 1500, maxMs: 5000 };
const POLL_MS = 10;
/** Number of finished queries whose late spans are recognized. */
const MAX_PAST = 10_000;

/** Receives the telemetry of a separately started agent for one query. */
export interface TraceSlot {
  /** Headers to send with the query. */
  readonly headers: Readonly<Record<string, string>>;
  /** Waits for the spans of the query. */
  readonly end: () => Promise<CaptureResult>;
  /** Forgets the query. */
  readonly close: () => void;
}

export interface TraceReceiver {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly open: () => TraceSlot;
  readonly close: () => Promise<void>;
}

interface Query {
  readonly spanId: string;
  readonly book: SpanBook;
  /** Only counts agent activity in other traces since the query began. */
  readonly others: SpanBook;
  /** Number of spans and logs in its trace, of agents or not. */
  items: number;
  /** The span of the whole request has arrived. It ends last. */
  isAnswered: boolean;
  lastAt: number;
  unreadable: number;
}

/**
 * Receives spans of an agent that many queries share. Its environment is not accessible, so it must
 * be configured to send its spans here. Only the trace that the query began identifies the query.
 */
export async function receiveByTraceparent(options: {
  readonly port: number;
  /** Called once when spans come for a finished query. */
  readonly onNote?: (note: CaptureNote) => void;
  readonly patience?: Partial<Patience>;
  readonly now?: () => number;
}): Promise<TraceReceiver> {
  const { now = Date.now } = options;
  const { quietMs, maxMs } = { ...PATIENCE, ...options.patience };
  const front = await openAt(options.port);
  const queries = new Map<string, Query>();
  const past = new Set<string>();
  const late = counter(Number.NEGATIVE_INFINITY);
  let inFlight = 0;
  /** Some query got spans. Until then, one query that waited in vain is enough. */
  let hasContinued = false;
  let hasWaited = false;
  let hasLate = false;

  const addLate = ({ request }: TracePart): void => {
    const isFirst = late.counts.rejected === 0;
    const isLate = late.add(request, 0).rejected > 0;
    // Late spans will occur again, so every further query gets the full time.
    hasLate ||= isLate;
    if (isLate && isFirst)
      options.onNote?.({
        code: 'CAPTURE_LATE_SPANS',
        message: `spans came for queries that were over, and are not part of them: what passed before may have called more; ${setup(front)}`,
      });
  };

  const add = (request: unknown, size: number): Taken => {
    const sum = { kept: 0, rejected: 0, late: 0 };
    const parts = traceParts(request);
    const share = size / [...parts.values()].reduce((items, part) => items + part.items, 0);
    for (const [traceId, part] of parts) {
      const query = queries.get(traceId);
      if (query !== undefined) {
        hasContinued = true;
        query.lastAt = now();
        query.items += part.items;
        query.isAnswered ||= part.parents.has(query.spanId);
        const taken = query.book.add(part.request, share * part.items);
        sum.kept += taken.kept;
        sum.rejected += taken.rejected;
      } else if (past.has(traceId)) addLate(part);
      else for (const open of queries.values()) open.others.add(part.request, 0);
    }
    return sum;
  };
  const lose = (): void => {
    for (const query of queries.values()) query.unreadable++;
  };

  const plane = openOtlpPlane(
    { ...front, env: {}, now },
    { endsWithRun: false, into: { add, lose } },
  );
  front.serve([counted(plane, (change) => (inFlight += change))]);

  const wait = async (query: Query): Promise<void> => {
    const began = now();
    const isOver = (): boolean => {
      const isQuiet = inFlight === 0 && now() - Math.max(query.lastAt, began) >= quietMs;
      return isQuiet && !hasLate && (query.isAnswered || (hasWaited && !hasContinued));
    };
    while (now() - began < maxMs && !isOver()) await sleep(POLL_MS);
    hasWaited ||= query.items === 0;
  };

  return {
    origin: front.origin,
    open: () => {
      const traceId = randomBytes(16).toString('hex');
      const spanId = randomBytes(8).toString('hex');
      const query: Query = {
        spanId,
        book: new SpanBook({ since: Number.NEGATIVE_INFINITY, outside: new Set([spanId]) }),
        others: counter(now()),
        items: 0,
        isAnswered: false,
        lastAt: Number.NEGATIVE_INFINITY,
        unreadable: 0,
      };
      queries.set(traceId, query);
      const close = (): void => {
        if (!queries.delete(traceId)) return;
        past.add(traceId);
        if (past.size > MAX_PAST) past.delete(past.values().next().value!);
      };
      return {
        headers: { traceparent: `00-${traceId}-${spanId}-01` },
        end: async () => {
          await wait(query);
          close();
          return resultOf(query, traceId, front);
        },
        close,
      };
    },
    close: () => front.close(),
  };
}

async function openAt(port: number): Promise<Front> {
  try {
    return await openFront({ port });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const why =
      error.code === 'EADDRINUSE' ? 'another program uses this port' : systemErrorText(error);
    throw new UserError('PORT_TAKEN', `spans cannot be received on 127.0.0.1:${port}: ${why}`, {
      hint: 'Choose a free port, as in capture: {otlp: "127.0.0.1:4418"}, and set it as OTEL_EXPORTER_OTLP_ENDPOINT of the server too.',
    });
  }
}

/** A book without capacity. It only counts what it was given about agents. */
const counter = (since: number): SpanBook =>
  new SpanBook({ since, limits: { maxKept: 0, maxBytes: 0, maxOthers: 0 } });

/** The plane with a count of its open requests. */
function counted(plane: Plane, count: (change: 1 | -1) => void): Plane {
  const around =
    <R extends Parameters<NonNullable<Plane['grpc']>>[0]>(take: (request: R) => void) =>
    (request: R): void => {
      count(1);
      request.response.once('close', () => count(-1));
      take(request);
    };
  return { ...plane, handle: around(plane.handle), grpc: around(plane.grpc!) };
}

const setup = ({ origin }: Front): string =>
  `start the server with OTEL_EXPORTER_OTLP_ENDPOINT=${origin} and OTEL_BSP_SCHEDULE_DELAY=200`;

function resultOf(query: Query, id: string, front: Front): CaptureResult {
  const { book, unreadable, items, isAnswered } = query;
  const telemetry = book.requests();
  const { rejected } = book.counts;
  const others = query.others.counts.rejected;
  const gaps: GapNote[] = [];
  const add = (gap: GapNote['gap'], count: number, what: string): void => {
    if (count > 0) gaps.push({ gap, detail: `${count} ${what}` });
  };
  add('spansLost', rejected, 'beyond the limit of one query');
  add('spansLost', unreadable, 'requests that could not be read');
  add('unattributed', others, 'spans or logs');
  if (!isAnswered) gaps.push({ gap: 'unanswered' });
  const notes: CaptureNote[] = [];
  if (telemetry.length === 0 && others > 0)
    notes.push({
      code: 'CAPTURE_NOT_ATTRIBUTABLE',
      message: `${others} spans or logs of agents came in other traces and cannot be attributed to a query: the server must continue the trace of the header traceparent`,
    });
  let nothing: string;
  if (items === 0 && others > 0)
    nothing = 'none of the spans that came continues the trace of this query';
  else if (items === 0) nothing = `no span of this query came to ${front.origin}; ${setup(front)}`;
  else
    nothing = `the ${items} spans and logs of this query mention no model and no tool; instrument the agent, not only its server`;
  return readEvidence({ exchanges: [], mcp: [], telemetry, gaps, notes }, id, nothing);
}
