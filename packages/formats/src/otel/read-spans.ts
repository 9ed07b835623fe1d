import { isDeepStrictEqual } from 'node:util';
import { present } from '@agentci/lib/data';
import type { AdapterItem, RawRecord } from '../adapter.ts';
import { tryBuild } from '../build/build-trace.ts';
import type { Draft, DraftStep } from '../build/draft.ts';
import { TRACING_RECORD } from '../build/records.ts';
import { label } from '../build/values.ts';
import { problemWith } from '../problem.ts';
import { absentCalls } from './absent-children.ts';
import { dialectOf } from './choose-dialect.ts';
import type { Reading } from './dialect.ts';
import { declaredTool } from './dialects/declared.ts';
import { groupRuns, type ReadSpan, sessionOf } from './group-runs.ts';
import { nested } from './nest.ts';
import { countedCalls, mentionsOf, signsIn } from './signs.ts';
import type { Span } from './span.ts';

/** The runs in a set of spans. Spans of web servers and databases around them are passed over. */
export function readSpans(spans: readonly Span[], format: string): AdapterItem[] {
  const read = nested(once(spans)).map(readSpan);
  return groupRuns(read)
    .filter((run) => run.some(({ steps }) => steps.some(({ kind }) => kind !== 'span')))
    .flatMap((run) => tryBuild(run[0]!.span.record, () => draftOf(run, format)));
}

/** The facts in one run's spans, after they were grouped. */
export function draftOfSpans(spans: readonly Span[], format: string): Draft | undefined {
  const run = nested(once(spans)).map(readSpan);
  const isAgents = run.some(({ steps }) => steps.some(({ kind }) => kind !== 'span'));
  return isAgents || mentionsOf(run).length > 0 ? draftOf(run, format) : undefined;
}

/** A span that was exported twice, word for word, happened once. */
function once(spans: readonly Span[]): Span[] {
  const byId = new Map<string, Span>();
  return spans.filter((span) => {
    if (span.id === undefined) return true;
    const key = `${span.traceId ?? ''} ${span.id}`;
    const first = byId.get(key);
    if (first === undefined) byId.set(key, span);
    return (
      first === undefined || !isDeepStrictEqual({ ...first, record: 0 }, { ...span, record: 0 })
    );
  });
}

/**
 * Reports a file without any agent span, because the exporter or instrumentation is probably wrong.
 */
export const noAgentSpans = (record: RawRecord): AdapterItem =>
  problemWith(record, {
    code: 'TRACE_NO_RECORDINGS',
    message:
      'no span describes a model, a tool or an agent: is the program instrumented for GenAI?',
  });

function readSpan(span: Span): ReadSpan {
  const dialect = dialectOf(span);
  const read = dialect?.read(span) ?? declaredTool(span);
  let readings: readonly Reading[];
  if (read === undefined) readings = [];
  else if (Array.isArray(read)) readings = read;
  else readings = [read as Reading];
  const place = { parent: span.parent, t0: span.t0, t1: span.t1 };
  if (readings.length === 0)
    return {
      span,
      dialect: undefined,
      isForeign: dialect === undefined,
      steps: [{ kind: 'span', ...place, key: span.id }],
    };
  const raw =
    span.id === undefined || span.id.startsWith('span-') ? {} : { raw: { spanId: span.id } };
  const steps = readings.map(
    (reading, i) =>
      ({
        ...reading,
        ...place,
        ...(i === 0 ? { key: span.id, ...raw } : {}),
      }) as DraftStep,
  );
  return { span, dialect: dialect?.name ?? 'generic', steps };
}

/**
 * An agent name that no agent of the run has, such as the instrumentation's, is replaced by the
 * enclosing agent.
 */
function withOwnAgents(run: readonly ReadSpan[]): DraftStep[] {
  const steps = run.flatMap((read) => read.steps);
  const byKey = new Map(
    steps.flatMap((step) => (step.key === undefined ? [] : [[step.key, step] as const])),
  );
  const names = new Set(steps.flatMap((step) => (step.kind === 'agent' ? [step.name] : [])));
  const hasAgentAbove = (step: DraftStep): boolean => {
    let above = step.parent === undefined ? undefined : byKey.get(step.parent);
    for (let i = 0; above !== undefined && i < MAX_DEPTH; i++) {
      if (above.kind === 'agent') return true;
      above = above.parent === undefined ? undefined : byKey.get(above.parent);
    }
    return false;
  };
  return steps.map((step) => {
    if (
      step.kind === 'agent' ||
      step.agent === undefined ||
      names.size === 0 ||
      names.has(step.agent)
    )
      return step;
    if (!hasAgentAbove(step)) return step;
    const { agent: _, ...rest } = step;
    return rest;
  });
}
const MAX_DEPTH = 64;

const tellsOfCalls = ({ kind }: DraftStep): boolean => kind === 'llm' || kind === 'agent';

function draftOf(run: readonly ReadSpan[], format: string): Draft {
  const traceIds = [...new Set(run.flatMap(({ span }) => span.traceId ?? []))];
  const dialects = [...new Set(run.flatMap(({ dialect }) => dialect ?? []))];
  const first = run[0]!.span;
  const dropped = run.reduce((sum, { span }) => sum + (span.dropped ?? 0), 0);
  const session = run.map(({ span }) => sessionOf(span)).find((id) => id !== undefined);
  const isCut = run.some(
    ({ span, steps }) => span.dropped !== undefined && steps.some(tellsOfCalls),
  );
  const hasLlm = run.some(({ steps }) => steps.some(({ kind }) => kind === 'llm'));
  const runId = label(first.resource['agentci.run_id']) ?? traceIds[0] ?? session;
  const steps = withOwnAgents(run);
  return {
    id: runId,
    source: { format, dialects, traceIds: traceIds.length !== 0 ? traceIds : undefined },
    steps: [...steps, ...absentCalls(run, steps)],
    meta: { session, service: label(first.resource['service.name']) },
    records: {
      ...TRACING_RECORD,
      // An instrumentation of tools alone does not prove that no model was called.
      llmCalls: hasLlm ? 'full' : 'none',
    },
    // The dropped attributes may have been the messages.
    gaps: present([
      isCut ? { gap: 'dropped' as const, detail: `${dropped} attributes` } : undefined,
      ...signsIn(run),
    ]),
    mentions: mentionsOf(run),
    counts: { toolCalls: countedCalls(run) },
    warnings:
      dropped === 0 || isCut
        ? []
        : [
            {
              code: 'OTEL_DROPPED_ATTRIBUTES',
              message: `the SDK dropped ${dropped} attributes at its limit: messages may be missing`,
            },
          ],
  };
}
