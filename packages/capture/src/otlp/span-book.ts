import type { LogRecord, Span } from '@agentci/formats';
import {
  declaredTool,
  dialectOf,
  idOf,
  isAgentLog,
  mayTellKind,
  namesInEvents,
  nanoseconds,
  objects,
  readOtlp,
} from '@agentci/formats';
import { type Fields, isFields } from '@agentci/trace';

export interface BookLimits {
  /** Spans and log records of agents. */
  readonly maxKept: number;
  /** Size of their text. */
  readonly maxBytes: number;
  /**
   * Maximum number of spans of servers, databases and the like. They matter only if a span of an
   * agent is below them.
   */
  readonly maxOthers: number;
}

const LIMITS: BookLimits = { maxKept: 50_000, maxBytes: 32 * 1024 * 1024, maxOthers: 20_000 };

/** Programs on one machine share a clock, but do not read it at the same instant. */
const CLOCK_SLACK_MS = 100;

/** The outcome of one request. */
export interface Taken {
  readonly kept: number;
  /** Number of rejected items, because the book is full. */
  readonly rejected: number;
  /** Number of items from an earlier query of the same agent. */
  readonly late: number;
}

/** A span with the shared fields of its request. */
interface Place {
  readonly resource: unknown;
  readonly scope: unknown;
}

/**
 * The spans of one query that concern an agent, and those around them. A busy program sends ten
 * thousand others per second, so only their basic fields are kept, and only for a while.
 */
export class SpanBook {
  readonly #limits: BookLimits;
  /** Epoch milliseconds. Earlier spans belong to another query. */
  readonly #since: number;
  /**
   * Ids of spans outside the agent, set by us or by the user's own tracing. A span below one of
   * them is a root.
   */
  readonly #outside: ReadonlySet<string>;
  /** As text, because parsed spans take several times the memory. */
  readonly #requests: Buffer[] = [];
  readonly #keptIds = new Set<string>();
  readonly #wanted = new Set<string>();
  readonly #others = new Map<string, readonly [Fields, Place]>();
  /**
   * Shapes of spans that do not concern an agent. A program has few, and sends thousands of each.
   */
  readonly #strangers = new Set<string>();
  /** Shapes of spans that do. One of each is enough. */
  readonly #own = new Set<string>();
  #kept = 0;
  #bytes = 0;
  /** Approximate size of accepted requests that are not yet part of them. */
  #pending = 0;
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

  /** The kept items, as requests of the protocol. */
  requests(): readonly unknown[] {
    return this.#requests.map((text) => JSON.parse(text.toString('utf8')) as unknown);
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
    return {
      kept: kept - before.kept,
      rejected: rejected - before.rejected,
      late: late - before.late,
    };
  }

  #addSpans(resource: unknown, scoped: Fields, share: number): void {
    const place = { resource, scope: scoped.scope };
    const scope = String(isFields(scoped.scope) ? (scoped.scope.name ?? '') : '');
    const own: Fields[] = [];
    for (const raw of objects(scoped.spans)) {
      if (this.#isLate(nanoseconds(raw.startTimeUnixNano))) continue;
      const shape = shapeOf(scope, raw);
      if (this.#strangers.has(shape)) {
        this.#addOther(raw, place);
        continue;
      }
      if (!this.#own.has(shape)) {
        const [span] = readOtlp({
          value: requestOf([raw], { resource: undefined, scope: scoped.scope }),
        }).spans;
        if (span === undefined) continue;
        const shapes = isOfAgent(span) ? this.#own : this.#strangers;
        if (shapes.size < MAX_SHAPES) shapes.add(shape);
        if (shapes === this.#strangers) {
          this.#addOther(raw, place);
          continue;
        }
      }
      if (!this.#hasRoom(share)) continue;
      const parent = idOf(raw.parentSpanId, SPAN_ID_DIGITS);
      own.push(this.#withoutOutside(parent, raw));
      this.#note(idOf(raw.spanId, SPAN_ID_DIGITS), parent);
    }
    if (own.length > 0) this.#keep(requestOf(own, place));
  }

  #isLate(began: number | undefined): boolean {
    if (began === undefined || began >= this.#since) return false;
    this.#late++;
    return true;
  }

  #addOther(raw: Fields, place: Place): void {
    const id = idOf(raw.spanId, SPAN_ID_DIGITS);
    if (id === undefined) return;
    const parent = idOf(raw.parentSpanId, SPAN_ID_DIGITS);
    const bare = this.#withoutOutside(parent, bareFacts(raw));
    if (this.#wanted.delete(id)) {
      if (!this.#hasRoom(0)) return;
      this.#keep(requestOf([bare], place));
      this.#note(id, parent);
      return;
    }
    this.#others.set(id, [bare, place]);
    if (this.#others.size > this.#limits.maxOthers)
      this.#others.delete(this.#others.keys().next().value!);
  }

  /** A kept span makes its ancestors worth keeping. */
  #note(id: string | undefined, parent: string | undefined): void {
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
      this.#keep(requestOf([bare], place));
      this.#keptIds.add(above);
      above = idOf(bare.parentSpanId, SPAN_ID_DIGITS);
    }
  }

  #addLogs(resource: unknown, scoped: Fields, share: number): void {
    const raw = objects(scoped.logRecords);
    const read = readOtlp({
      value: {
        resourceLogs: [{ resource, scopeLogs: [{ scope: scoped.scope, logRecords: raw }] }],
      },
    });
    const own = raw.filter((_, i) => this.#takesLog(read.logs[i]!, share));
    if (own.length > 0)
      this.#keep({
        resourceLogs: [{ resource, scopeLogs: [{ scope: scoped.scope, logRecords: own }] }],
      });
  }

  #takesLog(log: LogRecord, share: number): boolean {
    return isAgentLog(log) && !this.#isLate(log.at) && this.#hasRoom(share);
  }

  #keep(request: object): void {
    const text = Buffer.from(JSON.stringify(request));
    this.#requests.push(text);
    this.#bytes += text.length;
    this.#pending = 0;
  }

  #hasRoom(bytes: number): boolean {
    if (
      this.#kept >= this.#limits.maxKept ||
      this.#bytes + this.#pending + bytes > this.#limits.maxBytes
    ) {
      this.#rejected++;
      return false;
    }
    this.#kept++;
    this.#pending += bytes;
    return true;
  }

  #withoutOutside(parent: string | undefined, raw: Fields): Fields {
    if (parent === undefined || !this.#outside.has(parent)) return raw;
    const { parentSpanId: _, ...rest } = raw;
    return rest;
  }
}

const SPAN_ID_DIGITS = 16;
const MAX_SHAPES = 2000;
const MAX_KIND = 200;

const isOfAgent = (span: Span): boolean =>
  dialectOf(span) !== undefined ||
  AROUND_CALLS.test(span.name) ||
  declaredTool(span) !== undefined ||
  namesInEvents(span).length > 0;

/**
 * Everything that identifies a dialect: scope, name, and the kinds of its attributes, empty or not.
 */
function shapeOf(scope: string, { name, attributes, events }: Fields): string {
  let shape = `${scope}\n${String(name)}`;
  for (const { key, value } of objects(attributes)) {
    shape += `\n${String(key)}`;
    if (mayTellKind(String(key)) && isFields(value))
      shape += `=${String(value.stringValue).slice(0, MAX_KIND)}`;
    if (isFields(value))
      for (const kind in value) shape += value[kind] === '' ? ` ${kind}-` : ` ${kind}`;
  }
  for (const event of objects(events))
    for (const { key } of objects(event.attributes)) shape += `\n@${String(key)}`;
  return shape;
}

/** The span of Pydantic AI around the calls of one reply contains all their names. */
const AROUND_CALLS = /^running (?:\d{1,9} )?tools?$/;

const countItems = (root: Fields): number =>
  [...objects(root.resourceSpans), ...objects(root.resourceLogs)]
    .flatMap((entry) => [...objects(entry.scopeSpans), ...objects(entry.scopeLogs)])
    .reduce((sum, { spans, logRecords }) => sum + lengthOf(spans) + lengthOf(logRecords), 0);

const lengthOf = (list: unknown): number => (Array.isArray(list) ? list.length : 0);

const requestOf = (spans: readonly Fields[], { resource, scope }: Place): object => ({
  resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }],
});

const bareFacts = ({
  traceId,
  spanId,
  parentSpanId,
  name,
  startTimeUnixNano,
  endTimeUnixNano,
}: Fields): Fields => ({
  traceId,
  spanId,
  parentSpanId: parentSpanId === undefined || parentSpanId === '' ? undefined : parentSpanId,
  name,
  startTimeUnixNano,
  endTimeUnixNano,
});
