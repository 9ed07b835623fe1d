import type { Adapter } from '../adapter.ts';
import { dialectOf } from './choose-dialect.ts';
import { flatSpan, spanObjects } from './flat-spans.ts';
import { noAgentSpans, readSpans } from './read-spans.ts';

/** Formats by the prevailing dialect of a file, with the conventions as the default. */
const FORMATS: Readonly<Record<string, string>> = {
  langfuse: 'langfuse-otel',
  openinference: 'otel-openinference',
  adk: 'otel-adk',
  'pydantic-ai': 'otel-pydantic-ai',
  openllmetry: 'otel-openllmetry',
};

/**
 * Reads lists of spans outside of OTLP envelopes: SDK dumps, Jaeger, Zipkin. All such formats share
 * one reader and differ in their prevailing dialect.
 */
export const spanAdapter = (format: string, summary: string): Adapter => ({
  format,
  summary,
  unit: 'file',
  detect: (sample) => (mainFormat(sample) === format ? confidence(sample) : 0),
  // Every such file also has spans of other dialects and unrelated spans.
  recognises: (value) => spanObjects(value).length > 0,
  read: (records) => {
    const spans = records.flatMap((record) =>
      spanObjects(record.value).map((span) => flatSpan(span, record)),
    );
    const items = readSpans(spans, format);
    return items.length > 0 || records[0] === undefined ? items : [noAgentSpans(records[0])];
  },
});

const SAMPLE_SPANS = 200;

function mainFormat(sample: readonly unknown[]): string | undefined {
  if (sample.length === 0 || !sample.every((value) => spanObjects(value).length > 0))
    return undefined;
  const counts = new Map<string, number>();
  for (const span of sample.flatMap(spanObjects).slice(0, SAMPLE_SPANS)) {
    const dialect = dialectOf(flatSpan(span, { value: span }))?.name;
    if (dialect !== undefined) counts.set(dialect, (counts.get(dialect) ?? 0) + 1);
  }
  const [main] = [...counts].toSorted((a, b) => b[1] - a[1]);
  return (main === undefined ? undefined : FORMATS[main[0]]) ?? 'otel-genai';
}

const confidence = (sample: readonly unknown[]): number =>
  sample
    .flatMap(spanObjects)
    .slice(0, SAMPLE_SPANS)
    .some((span) => dialectOf(flatSpan(span, { value: span })) !== undefined)
    ? 0.9
    : 0.6;
