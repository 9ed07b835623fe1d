import { idOf, objects } from '@agentci/formats';
import { type Fields, isFields } from '@agentci/trace';

/** The part of a request about one trace, as a separate request. */
export interface TracePart {
  readonly request: object;
  /** Number of spans and log records in it. */
  readonly items: number;
  /** Ids of the parents of its spans. */
  readonly parents: ReadonlySet<string>;
}

interface Gathered {
  readonly resourceSpans: object[];
  readonly resourceLogs: object[];
  readonly parents: Set<string>;
  items: number;
}

/** Splits a request by trace. Items without a trace are under the empty name. */
export function traceParts(request: unknown): ReadonlyMap<string, TracePart> {
  const parts = new Map<string, Gathered>();
  const partOf = (traceId: string, items: number): Gathered => {
    const known = parts.get(traceId) ?? {
      resourceSpans: [],
      resourceLogs: [],
      parents: new Set(),
      items: 0,
    };
    parts.set(traceId, known);
    known.items += items;
    return known;
  };
  const root = isFields(request) ? request : {};
  for (const { resource, scopeSpans } of objects(root.resourceSpans))
    for (const { scope, spans } of objects(scopeSpans))
      for (const [traceId, own] of grouped(spans)) {
        const part = partOf(traceId, own.length);
        part.resourceSpans.push({ resource, scopeSpans: [{ scope, spans: own }] });
        for (const { parentSpanId } of own)
          part.parents.add(idOf(parentSpanId, SPAN_ID_DIGITS) ?? '');
      }
  for (const { resource, scopeLogs } of objects(root.resourceLogs))
    for (const { scope, logRecords } of objects(scopeLogs))
      for (const [traceId, own] of grouped(logRecords))
        partOf(traceId, own.length).resourceLogs.push({
          resource,
          scopeLogs: [{ scope, logRecords: own }],
        });
  return new Map(
    [...parts].map(
      ([traceId, { items, parents, ...own }]) =>
        [traceId, { request: own, items, parents }] as const,
    ),
  );
}

const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;

function grouped(list: unknown): Map<string, Fields[]> {
  const groups = new Map<string, Fields[]>();
  for (const item of objects(list)) {
    const traceId = idOf(item.traceId, TRACE_ID_DIGITS) ?? '';
    const same = groups.get(traceId);
    if (same === undefined) groups.set(traceId, [item]);
    else same.push(item);
  }
  return groups;
}
