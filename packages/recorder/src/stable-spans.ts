import { stable } from './stable.ts';

interface TimedSpan {
  spanId: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  events: { timeUnixNano: string }[];
}
interface TraceRequest {
  resourceSpans: { scopeSpans: { spans: TimedSpan[] }[] }[];
}

const START = BigInt(Date.UTC(2026, 0, 5, 9)) * 1_000_000n;
const STEP = 1_000_000n;

/**
 * Replaces the measured times in a request of spans by deterministic ones. Sequential ids give the
 * order of the starts, and the exporter lists spans in order of their ends. Between two ends,
 * everything starts as late as possible.
 */
export function stableSpans(request: unknown): TraceRequest {
  const copy = stable(request) as TraceRequest;
  const ended = copy.resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans),
  );
  const waiting = [...ended].sort((a, b) => (a.spanId < b.spanId ? -1 : 1));
  let now = START;
  const tick = (): string => {
    now += STEP;
    return String(now);
  };
  for (const span of ended) {
    while (waiting[0] !== undefined && waiting[0].spanId <= span.spanId)
      waiting.shift()!.startTimeUnixNano = tick();
    for (const event of span.events) event.timeUnixNano = tick();
    span.endTimeUnixNano = tick();
  }
  return copy;
}
