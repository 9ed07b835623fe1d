import type { Trace } from '@agentci/trace';
import { isFields } from '@agentci/trace';
import type { Adapter, AdapterItem, RawRecord } from '../adapter.ts';
import { mayBeModelCall, pathOf } from '../build/model-request.ts';
import { problemWith } from '../problem.ts';
import { detectRecords } from './detect-records.ts';
import { withHints } from './hints.ts';
import { notFormat } from './recognise.ts';

const FLOOR = 0.5;
const MAX_NAMED = 3;

/**
 * Reads an HTTP recording: model calls among other requests, possibly of several providers, each in
 * its own format. A warning names other requests, and possible model calls make the calls partial.
 */
export function readInteractions(
  records: readonly RawRecord[],
  adapters: readonly Adapter[],
  chosen: Adapter | undefined,
): AdapterItem[] {
  const byFormat = new Map<Adapter, RawRecord[]>();
  const others: RawRecord[] = [];
  for (const record of records) {
    const { format, confidence, candidates } = detectRecords([record.value], adapters);
    const adapter = adapters.find((known) => known.format === format);
    if (adapter === undefined || confidence < FLOOR || candidates.length > 1) others.push(record);
    else byFormat.set(adapter, [...(byFormat.get(adapter) ?? []), record]);
  }
  if (chosen !== undefined) {
    const own = byFormat.get(chosen);
    if (own === undefined)
      return records.slice(0, 1).map((record) => notFormat(record, chosen, adapters));
  }
  if (byFormat.size === 0) return records.length === 0 ? [] : [noModelCall(records)];
  return [...byFormat].flatMap(([adapter, own]) => {
    if (chosen !== undefined && adapter !== chosen)
      return own.map((record) => notFormat(record, chosen, adapters));
    return withHints([...adapter.read(own)], own).map((item) =>
      item.ok ? { ok: true, trace: withOthers(item.trace, others) } : item,
    );
  });
}

const noModelCall = (records: readonly RawRecord[]): AdapterItem =>
  problemWith(records[0]!, {
    code: 'TRACE_UNKNOWN_FORMAT',
    message: `none of the ${records.length} recorded requests is a model call in a known format: ${nameRequests(records)}`,
  });

function withOthers(trace: Trace, others: readonly RawRecord[]): Trace {
  if (others.length === 0) return trace;
  const doubtful = others.filter(({ value }) => mayBeModelCall(value));
  const named = doubtful.length > 0 ? doubtful : others;
  const message =
    doubtful.length > 0
      ? `requests that may be model calls are in no known format: ${nameRequests(named)}`
      : `requests that are not model calls were left out: ${nameRequests(named)}`;
  const code = doubtful.length > 0 ? 'REQUESTS_UNREAD' : 'REQUESTS_LEFT_OUT';
  const warnings = [...trace.warnings, { code, message }];
  if (doubtful.length === 0) return { ...trace, warnings };
  const { toolCalls, llmCalls } = trace.captured;
  const captured = {
    ...trace.captured,
    toolCalls: toolCalls === 'full' ? ('partial' as const) : toolCalls,
    llmCalls: llmCalls === 'full' ? ('partial' as const) : llmCalls,
  };
  return { ...trace, captured, warnings };
}

function nameOf(value: Readonly<Record<string, unknown>>): string {
  const path = pathOf(value);
  // Socket recorders write messages instead of requests.
  if (path === '' && value.method === undefined)
    return 'an entry without a request, such as a message of a socket';
  return `${typeof value.method === 'string' ? value.method : '?'} ${path.slice(0, 120)}`;
}

function nameRequests(records: readonly RawRecord[]): string {
  const names = records.flatMap(({ value }) => (isFields(value) ? [nameOf(value)] : []));
  const unique = [...new Set(names)];
  const more = unique.length > MAX_NAMED ? ` and ${unique.length - MAX_NAMED} more` : '';
  return `${unique.slice(0, MAX_NAMED).join(', ')}${more}`;
}
