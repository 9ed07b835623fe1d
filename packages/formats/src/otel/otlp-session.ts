import type { AdapterItem, RawRecord, RecordSession } from '../adapter.ts';
import { problemWith } from '../problem.ts';
import { joinLogs } from './join-logs.ts';
import { readOtlp, type Telemetry } from './read-otlp.ts';
import { noAgentSpans, readSpans } from './read-spans.ts';
import type { LogRecord, Span } from './span.ts';

/**
 * Maximum open traces. Beyond it, the least recently active ones are read and released, those with
 * a root first.
 */
const MAX_HELD = 50_000;

/**
 * Reads requests incrementally, because collector files exceed memory and a trace ends long before
 * its file.
 */
export class OtlpSession implements RecordSession {
  readonly #format: string;
  readonly #maxHeld: number;
  /** By trace, most recently active last. */
  readonly #held = new Map<string, { spans: Span[]; logs: LogRecord[] }>();
  readonly #gone = new Set<string>();
  #count = 0;
  #late = 0;
  #found = 0;
  #first: RawRecord | undefined;

  constructor(format: string, maxHeld = MAX_HELD) {
    this.#format = format;
    this.#maxHeld = maxHeld;
  }

  push(records: readonly RawRecord[]): AdapterItem[] {
    for (const record of records) {
      this.#first ??= record;
      this.#add(readOtlp(record));
    }
    return this.#count > this.#maxHeld ? this.#release(this.#maxHeld / 2) : [];
  }

  end(): AdapterItem[] {
    const items = this.#read([...this.#held.values()]);
    const place = this.#first ?? { value: undefined };
    if (this.#late > 0)
      items.push(
        problemWith(place, {
          code: 'OTEL_LATE_SPANS',
          message: `${this.#late} spans came long after the rest of their trace and are missing from it: sort the file by trace`,
        }),
      );
    return this.#found === 0 ? [...items, noAgentSpans(place)] : items;
  }

  #add({ spans, logs }: Telemetry): void {
    for (const span of spans) this.#groupOf(span.traceId)?.spans.push(span);
    for (const log of logs) this.#groupOf(log.traceId)?.logs.push(log);
  }

  #groupOf(traceId = ''): { spans: Span[]; logs: LogRecord[] } | undefined {
    if (this.#gone.has(traceId)) {
      this.#late++;
      return undefined;
    }
    this.#count++;
    const group = this.#held.get(traceId) ?? { spans: [], logs: [] };
    this.#held.delete(traceId);
    this.#held.set(traceId, group);
    return group;
  }

  #release(goal: number): AdapterItem[] {
    const done = [];
    // Exporters send children before parents. A root may be in another program and never arrive, so
    // traces without one are released last.
    for (const isEnough of [hasRoot, () => true]) {
      for (const [traceId, group] of this.#held) {
        if (this.#count <= goal) break;
        if (!isEnough(group.spans)) continue;
        this.#held.delete(traceId);
        this.#gone.add(traceId);
        this.#count -= group.spans.length + group.logs.length;
        done.push(group);
      }
    }
    return this.#read(done);
  }

  #read(groups: readonly Telemetry[]): AdapterItem[] {
    const spans = joinLogs({
      spans: groups.flatMap((group) => group.spans),
      logs: groups.flatMap((group) => group.logs),
    });
    const items = readSpans(spans, this.#format);
    this.#found += items.length;
    return items;
  }
}

const hasRoot = (spans: readonly Span[]): boolean =>
  spans.some(({ parent }) => parent === undefined);
