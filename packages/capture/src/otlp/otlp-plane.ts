import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GapNote } from '@agentci/formats';
import { decodeRequest, isOtlp } from '@agentci/formats';
import { present } from '@agentci/lib/data';
import { isDeeperThan, MAX_JSON_DEPTH } from '@agentci/lib/json';
import type { CaptureNote, Plane, PlaneContext, PlaneRequest } from '../plane.ts';
import { camelRequest, isRequest } from './camel-request.ts';
import { collectorOf, Forwarder, SERVICES } from './collector.ts';
import { otlpEnvironment, RUN_HEADER } from './environment.ts';
import { BodyReader, isTooLarge, unpackBody } from './read-body.ts';
import { type Outcome, replyGrpc, replyHttp, type Signal, unframed } from './reply.ts';
import type { BookLimits, SpanBook, Taken } from './span-book.ts';

export interface OtlpPlaneOptions {
  /** The agent makes one run and ends. Otherwise it is persistent and sends spans at any time. */
  readonly endsWithRun: boolean;
  /** The run's id, for the resource attributes of an agent with a single run. */
  readonly runId?: string;
  /** Called with every readable request, as JSON. */
  readonly onTelemetry?: ((request: unknown) => void) | undefined;
  readonly limits?: Partial<BookLimits>;
  /** Receives requests from any sender in place of the plane's own book. */
  readonly into?: {
    readonly add: (request: unknown, size: number) => Taken;
    /** Called for an unreadable request. */
    readonly lose: () => void;
  };
}

const SIGNALS: readonly Signal[] = ['traces', 'logs', 'metrics'];
/** Interval for checking for new spans while waiting for the last ones. */
const POLL_MS = 5;
/** Time to read the socket of an agent that has ended without sending anything. */
const LAST_BYTES_MS = 10;
const SETTLE_MS = 2000;
const TOO_LARGE: Outcome = { status: 'too_large', message: 'the request is too large' };

/**
 * Receives the data of an agent's OpenTelemetry SDK: over HTTP as JSON or protobuf, and over gRPC.
 */
export function openOtlpPlane(context: PlaneContext, options: OtlpPlaneOptions): Plane {
  const { env, now, token, base } = context;
  const collectors = SIGNALS.flatMap((signal) => collectorOf(signal, env) ?? []);
  const forwarder = new Forwarder(collectors);
  const bodies = new BodyReader();
  const ourSpan = randomBytes(8).toString('hex');
  const traceparent = options.endsWithRun
    ? `00-${randomBytes(16).toString('hex')}-${ourSpan}-01`
    : undefined;
  const theirSpan = /^[0-9a-f]{2}-[0-9a-f]{32}-([0-9a-f]{16})-/i
    .exec(env.TRACEPARENT ?? '')?.[1]
    ?.toLowerCase();
  const outside = new Set(present([ourSpan, theirSpan === undefined ? undefined : theirSpan]));
  let since = Number.NEGATIVE_INFINITY;
  let book: SpanBook | undefined;
  /**
   * The code that recognizes spans of agents is loaded on demand, because most agents send none.
   */
  const openBook = async (): Promise<SpanBook> => {
    const { SpanBook } = await import('./span-book.ts');
    book ??= new SpanBook({
      since,
      outside,
      limits: options.limits,
    });
    return book;
  };

  let open = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  let hasSent = false;
  let hasEnded = false;
  let unreadable = 0;
  let strangers = 0;
  const counts = { requests: 0, spans: 0, rejected: 0 };

  const take = async (signal: Signal, body: Buffer, isJson: boolean): Promise<Outcome> => {
    // Metrics are not evidence of a run.
    if (signal === 'metrics') return { status: 'ok', rejected: 0 };
    const request = decode(body, isJson ? 'json' : signal);
    if (request === undefined) return { status: 'bad', message: 'the request could not be read' };
    hasSent = true;
    options.onTelemetry?.(request);
    const taken = (options.into ?? (await openBook())).add(request, body.length);
    counts.requests++;
    counts.spans += taken.kept;
    counts.rejected += taken.rejected;
    return { status: 'ok', rejected: taken.rejected };
  };

  const lose = (): void => {
    unreadable++;
    options.into?.lose();
  };

  /** Wraps the handling of a request, even if it fails. */
  const during = async (work: () => Promise<void>): Promise<void> => {
    open++;
    try {
      await work();
    } catch {
      // The agent must not notice errors on our side.
      lose();
    } finally {
      open--;
      lastAt = now();
    }
  };

  const unpacked = async (
    bytes: Buffer,
    encoding: string | undefined,
  ): Promise<Buffer | Outcome> => {
    try {
      return (
        (await unpackBody(bytes, encoding)) ?? {
          status: 'unknown_type',
          message: `the encoding ${JSON.stringify(encoding?.slice(0, 40))} is not known`,
        }
      );
    } catch (error) {
      return isTooLarge(error)
        ? TOO_LARGE
        : { status: 'bad', message: 'the packed body is damaged' };
    }
  };

  const noteLost = ({ status }: Outcome): void => {
    if (status === 'bad' || status === 'too_large' || status === 'unknown_type') lose();
    if (status === 'stranger') strangers++;
  };

  const takeHttp = async ({ path, request, response }: PlaneRequest): Promise<void> => {
    const plain = path.split('?')[0]!.replace(/\/+$/, '');
    const named = SIGNALS.find((name) => plain.endsWith(`/v1/${name}`));
    const type = request.headers['content-type'] ?? '';
    const isJson = /^application\/json\b/i.test(type);
    // JSON identifies its content, so the bare endpoint address is enough.
    const signal = named ?? (plain === '' && isJson ? 'traces' : undefined);
    const reply = (outcome: Outcome): void => {
      noteLost(outcome);
      replyHttp(response, signal ?? 'traces', { isJson, outcome });
    };
    const read = await bodies.read(request);
    if (!read.ok) {
      if (read.why === 'too_large') reply(TOO_LARGE);
      return;
    }
    if (signal === undefined && request.method === 'POST' && !/profiles$/.test(plain)) lose();
    if (signal === undefined || request.method !== 'POST')
      return reply({
        status: 'no_method',
        message: 'spans are sent with POST to /v1/traces, logs to /v1/logs',
      });
    if (!isJson && !/^application\/(?:x-)?protobuf\b/i.test(type))
      return reply({
        status: 'unknown_type',
        message: 'send application/x-protobuf or application/json',
      });
    const encoding = headerOf(request.headers['content-encoding']);
    const body = await unpacked(read.bytes, encoding);
    const outcome = Buffer.isBuffer(body) ? await take(signal, body, isJson) : body;
    reply(outcome);
    if (outcome.status === 'ok') forwarder.forward({ signal, bytes: read.bytes, isJson, encoding });
  };

  const takeGrpc = async ({ request, response }: Omit<PlaneRequest, 'path'>): Promise<void> => {
    const signal = SIGNALS.find((name) => SERVICES[name] === request.url);
    const read = await bodies.read(request);
    const reply = (outcome: Outcome): void => {
      noteLost(outcome);
      replyGrpc(response, outcome);
    };
    if (signal === undefined)
      return reply({
        status: 'no_method',
        message: 'the capture takes exports of traces, logs and metrics',
      });
    // A gRPC call has no path of ours, so this header distinguishes our agent from other programs
    // of the machine.
    if (options.into === undefined && headerOf(request.headers[RUN_HEADER]) !== token)
      return reply({
        status: 'stranger',
        message: `the header ${RUN_HEADER} of the capture is missing`,
      });
    if (!read.ok) {
      if (read.why === 'too_large') reply(TOO_LARGE);
      return;
    }
    const frame = unframed(read.bytes);
    if (frame === undefined) return reply({ status: 'bad', message: 'the frame is damaged' });
    const encoding = frame.isPacked ? headerOf(request.headers['grpc-encoding']) : undefined;
    const body = await unpacked(frame.message, encoding);
    const outcome = Buffer.isBuffer(body) ? await take(signal, body, false) : body;
    reply(outcome);
    if (outcome.status === 'ok')
      forwarder.forward({ signal, bytes: frame.message, isJson: false, encoding });
  };

  /**
   * Spans come in batches after the work they describe. After some silence no more are expected.
   */
  const quiet = async (quietMs: number, maxMs: number): Promise<void> => {
    const began = now();
    const mayCome = hasSent || (!options.endsWithRun && !hasEnded);
    const silence = mayCome ? quietMs : LAST_BYTES_MS;
    while (now() - began < maxMs && (open > 0 || now() - Math.max(lastAt, began) < silence))
      await sleep(POLL_MS);
  };

  return {
    name: 'otlp',
    environment: () =>
      otlpEnvironment({
        base,
        token,
        env,
        collectors,
        runId: options.endsWithRun ? options.runId : undefined,
        traceparent,
      }),
    handle: (request) => void during(() => takeHttp(request)),
    grpc: (request) => void during(() => takeGrpc(request)),
    begin: () => {
      since = now();
      book = undefined;
    },
    end: async ({ quietMs, maxMs, sendsSpans }) => {
      if (hasSent || sendsSpans !== false) {
        await quiet(quietMs, maxMs);
        hasEnded = true;
      }
      const { rejected, late } = book?.counts ?? { rejected: 0, late: 0 };
      const gaps: GapNote[] = [];
      const lost = (count: number, why: string): void => {
        if (count > 0) gaps.push({ gap: 'spansLost', detail: `${count} ${why}` });
      };
      lost(rejected, 'beyond the limit of one query');
      lost(unreadable, 'requests that could not be read');
      lost(strangers, `gRPC calls without the header ${RUN_HEADER}`);
      const notes: CaptureNote[] = [];
      if (late > 0)
        notes.push({
          code: 'CAPTURE_LATE_SPANS',
          message: `${late} spans began before this query did: they belong to none`,
        });
      for (const [host, count] of forwarder.lost)
        notes.push({
          code: 'CAPTURE_NOT_FORWARDED',
          message: `${count} requests could not be forwarded to the collector ${host}`,
        });
      forwarder.lost.clear();
      [unreadable, strangers] = [0, 0];
      return { telemetry: book?.requests() ?? [], gaps, notes };
    },
    report: () => ({ ...counts, forwarded: forwarder.sent }),
    close: () => forwarder.settle(SETTLE_MS),
  };
}

const headerOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

/** A request as JSON. Undefined if the bytes are invalid. */
function decode(bytes: Buffer, as: 'json' | 'traces' | 'logs'): unknown {
  try {
    if (as !== 'json') return decodeRequest(bytes, as);
    const text = bytes.toString('utf8');
    if (isDeeperThan(text, MAX_JSON_DEPTH)) return undefined;
    const value = camelRequest(JSON.parse(text));
    return isOtlp(value) && isRequest(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
