import { objects } from '../../adapters/build/values.ts';
import { dialectOf } from '../../adapters/otel/choose-dialect.ts';
import { isAgentLog } from '../../adapters/otel/join-logs.ts';
import { readOtlp } from '../../adapters/otel/read-otlp.ts';
import type { LogRecord, Span } from '../../adapters/otel/span.ts';
import { type Fields, isFields } from '../../trace/fields.ts';

export interface BookLimits {
  /** Spans and log records of agents. */
  readonly maxKept: number;
  /** What they were sent in, about. */
  readonly maxBytes: number;
  /** Spans of servers, databases and the like, which only matter if one of an agent turns out to be below them. */
  readonly maxOthers: number;
}

const LIMITS: BookLimits = { maxKept: 50_000, maxBytes: 48 * 1024 * 1024, maxOthers: 20_000 };

/** Programs that run side by side read one clock, but not at the same instant. */
const CLOCK_SLACK_MS = 100;

/** What became of one request. */
export interface Taken {
  readonly kept: number;
  /** Refused, because there was no more room. */
  readonly rejected: number;
  /** Of an earlier query of the same agent. */
  readonly late: number;
}

/** A span with what its request says about all of them. */
interface Place {
  readonly resource: unknown;
  readonly scope: unknown;
}

/**
 * The spans of one query that say something about an agent, and those around them. A busy program sends ten thousand others a
 * second: of these only the bare facts are held, and only for a while.
 */
export class SpanBook {
  readonly #limits: BookLimits;
  /** Epoch milliseconds: what began earlier belongs to another query. */
  readonly #since: number;
  /** Ids of spans outside of the agent, set by us or by the user's own tracing; a span below one of them is a root. */
  readonly #outside: ReadonlySet<string>;
  readonly #requests: object[] = [];
  readonly #keptIds = new Set<string>();
  readonly #wanted = new Set<string>();
  readonly #others = new Map<string, readonly [Fields, Place]>();
  #kept = 0;
  #bytes = 0;
  #rejected = 0;
  #late = 0;

  constructor(options: {
    readonly since: number;
    readonly outside?: ReadonlySet<string>;
    readonly limits?: Partial<BookLimits>;
  }) {
    this.#limits = { ...LIMITS, ...options.limits };
    this.#since = options.since - CLOCK_SLACK_MS;
    this.#outside = options.outside ?? new Set();
  }

  get counts(): { readonly kept: number; readonly rejected: number; readonly late: number } {
    return { kept: this.#kept, rejected: this.#rejected, late: this.#late };
  }

  /** What was kept, as requests of the protocol. */
  requests(): readonly unknown[] {
    return this.#requests;
  }

  /** Takes a request, `size` bytes long. */
  add(request: unknown, size: number): Taken {
    const before = this.counts;
    const root = isFields(request) ? request : {};
    const share = size / Math.max(1, countItems(root));
    for (const entry of objects(root.resourceSpans))
      for (const scoped of objects(entry.scopeSpans)) this.#addSpans(entry.resource, scoped, share);
    for (const entry of objects(root.resourceLogs))
      for (const scoped of objects(entry.scopeLogs)) this.#addLogs(entry.resource, scoped, share);
    const { kept, rejected, late } = this.counts;
    return { kept: kept - before.kept, rejected: rejected - before.rejected, late: late - before.late };
  }

  #addSpans(resource: unknown, scoped: Fields, share: number): void {
    const place = { resource, scope: scoped.scope };
    const raw = objects(scoped.spans);
    const read = readOtlp({
      value: { resourceSpans: [{ resource, scopeSpans: [{ scope: scoped.scope, spans: raw }] }] },
    });
    const own: Fields[] = [];
    for (const [i, span] of read.spans.entries()) {
      if ((span.t0 ?? this.#since) < this.#since) {
        this.#late++;
        continue;
      }
      const isAgent = dialectOf(span) !== undefined || AROUND_CALLS.test(span.name);
      if (!isAgent) {
        this.#addOther(span, raw[i]!, place);
        continue;
      }
      if (!this.#hasRoom(share)) continue;
      own.push(this.#withoutOutside(span, raw[i]!));
      this.#note(span);
    }
    if (own.length > 0) this.#requests.push(requestOf(own, place));
  }

  #addOther(span: Span, raw: Fields, place: Place): void {
    if (span.id === undefined) return;
    const bare = this.#withoutOutside(span, bareFacts(raw));
    if (this.#wanted.delete(span.id)) {
      if (this.#hasRoom(0)) {
        this.#requests.push(requestOf([bare], place));
        this.#note(span);
      }
      return;
    }
    this.#others.set(span.id, [bare, place]);
    if (this.#others.size > this.#limits.maxOthers) this.#others.delete(this.#others.keys().next().value!);
  }

  /** A span that is kept makes those above it worth keeping. */
  #note({ id, parent }: Span): void {
    if (id !== undefined) this.#keptIds.add(id);
    for (let above = parent; above !== undefined; ) {
      if (this.#keptIds.has(above) || this.#outside.has(above)) return;
      const known = this.#others.get(above);
      if (known === undefined) {
        this.#wanted.add(above);
        return;
      }
      const [bare, place] = known;
      this.#others.delete(above);
      if (!this.#hasRoom(0)) return;
      this.#requests.push(requestOf([bare], place));
      this.#keptIds.add(above);
      above = typeof bare.parentSpanId === 'string' && bare.parentSpanId !== '' ? bare.parentSpanId : undefined;
    }
  }

  #addLogs(resource: unknown, scoped: Fields, share: number): void {
    const raw = objects(scoped.logRecords);
    const read = readOtlp({
      value: { resourceLogs: [{ resource, scopeLogs: [{ scope: scoped.scope, logRecords: raw }] }] },
    });
    const own = raw.filter((_, i) => this.#takesLog(read.logs[i]!, share));
    if (own.length > 0)
      this.#requests.push({ resourceLogs: [{ resource, scopeLogs: [{ scope: scoped.scope, logRecords: own }] }] });
  }

  #takesLog(log: LogRecord, share: number): boolean {
    if (!isAgentLog(log)) return false;
    if ((log.at ?? this.#since) < this.#since) {
      this.#late++;
      return false;
    }
    return this.#hasRoom(share);
  }

  #hasRoom(bytes: number): boolean {
    if (this.#kept >= this.#limits.maxKept || this.#bytes + bytes > this.#limits.maxBytes) {
      this.#rejected++;
      return false;
    }
    this.#kept++;
    this.#bytes += bytes;
    return true;
  }

  #withoutOutside(span: Span, raw: Fields): Fields {
    if (span.parent === undefined || !this.#outside.has(span.parent)) return raw;
    const { parentSpanId: _, ...rest } = raw;
    return rest;
  }
}

/** The span that Pydantic AI puts around the calls of one reply names them all. */
const AROUND_CALLS = /^running (?:\d{1,9} )?tools?$/;

const countItems = (root: Fields): number =>
  [...objects(root.resourceSpans), ...objects(root.resourceLogs)]
    .flatMap((entry) => [...objects(entry.scopeSpans), ...objects(entry.scopeLogs)])
    .reduce((sum, { spans, logRecords }) => sum + lengthOf(spans) + lengthOf(logRecords), 0);

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

const requestOf = (spans: readonly Fields[], { resource, scope }: Place): object => ({
  resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }],
});

const bareFacts = ({ traceId, spanId, parentSpanId, name, startTimeUnixNano, endTimeUnixNano }: Fields): Fields => ({
  traceId,
  spanId,
  ...(parentSpanId === undefined || parentSpanId === '' ? {} : { parentSpanId }),
  name,
  startTimeUnixNano,
  endTimeUnixNano,
});
