import { present } from '@agentci/lib/data';
import type { Step, Trace } from '@agentci/trace';
import type { AdapterItem, RawRecord } from '../../adapter.ts';
import { tryBuild } from '../../build/build-trace.ts';
import type { Draft, DraftStep, GapNote } from '../../build/draft.ts';
import { MESSAGES_RECORD, TRACING_RECORD } from '../../build/records.ts';
import { joinLogs } from '../../otel/join-logs.ts';
import { readOtlp } from '../../otel/read-otlp.ts';
import { draftOfSpans } from '../../otel/read-spans.ts';
import { type TapEvidence, tapSteps } from '../mcp/tap-steps.ts';
import { type ExchangeSteps, type PairOf, stepsOfExchanges } from './exchange-steps.ts';
import { withServers } from './join-servers.ts';
import { linkToSpans } from './link-spans.ts';

export const FORMAT = 'agentci-exchange';

/** All evidence of one run, from every plane. */
export interface CapturedRun {
  readonly id?: string;
  /** Lines of `exchanges.jsonl`. */
  readonly exchanges: readonly RawRecord[];
  /** Returns the parsed request and response, if read before. */
  readonly pairOf?: PairOf;
  /** Requests of the OpenTelemetry protocol, as JSON. */
  readonly telemetry?: readonly RawRecord[];
  /** Evidence from taps of MCP servers. */
  readonly taps?: readonly TapEvidence[];
  /** Signs that something passed the capture by. */
  readonly gaps?: readonly GapNote[];
  readonly warnings?: Trace['warnings'];
}

/** One trace from all evidence. A problem if none of it mentions a model, tool or agent. */
export function capturedTrace(run: CapturedRun): AdapterItem[] {
  const first = run.exchanges[0] ?? run.telemetry?.[0] ?? run.taps?.[0]?.records[0];
  if (first === undefined) return [];
  const seen = stepsOfExchanges(run.exchanges, run.pairOf);
  const isOpen = seen.error !== undefined || seen.endsUnread;
  return tryBuild(first, () => draftOf(run, seen)).map((item) =>
    item.ok
      ? { ok: true, trace: withPendingCalls(isOpen ? withoutAnswer(item.trace) : item.trace) }
      : item,
  );
}

/** Text before a failed or unreadable call is not the answer. */
function withoutAnswer({ final: _, ...trace }: Trace): Trace {
  const status = trace.status === 'ok' ? 'unknown' : trace.status;
  return { ...trace, status, captured: { ...trace.captured, final: 'none' } };
}

const embeddingsWarning = ({ calls, tokens }: ExchangeSteps['embeddings']) =>
  calls === 0
    ? undefined
    : {
        code: 'EMBEDDINGS_NOT_PRICED',
        message: `${calls} calls for embeddings (${tokens} tokens) are not part of tokens and cost`,
      };

function draftOf(run: CapturedRun, seen: ExchangeSteps): Draft | undefined {
  const spans = spanDraft(run.telemetry ?? []);
  const taps = tapSteps(run.taps ?? []);
  const linked = linkToSpans(seen.llm, spans?.steps ?? [], seen.callers);
  const extra = taps.steps;
  if (
    seen.llm.length + seen.events.length + extra.length === 0 &&
    spans === undefined &&
    seen.gaps.length === 0
  )
    return undefined;
  const gaps = present([
    ...seen.gaps,
    ...(spans?.gaps ?? []),
    ...(run.gaps ?? []),
    ...taps.gaps,
    extra.length > 0 && seen.llm.length === 0 && spans === undefined
      ? { gap: 'tapsOnly' as const }
      : undefined,
    // Without exchanges, spans are the only evidence and judged as such.
    isUnflushed(linked.llm) ? { gap: 'unflushed' as const } : undefined,
    seen.llm.length > 0 && linked.unseen > 0
      ? { gap: 'unseen' as const, detail: `${linked.unseen}` }
      : undefined,
    ...linked.disputed
      .slice(0, 1)
      .map((name) => ({ gap: 'disputed' as const, detail: JSON.stringify(name.slice(0, 60)) })),
  ]);
  return {
    id: run.id,
    error: seen.error,
    status: seen.error === undefined ? undefined : ('error' as const),
    source: { ...spans?.source, format: FORMAT },
    steps: [
      ...withServers<DraftStep>([...linked.spans, ...seen.events, ...linked.llm], extra),
      ...extra,
    ],
    records:
      spans === undefined
        ? {
            ...MESSAGES_RECORD,
            toolErrors: seen.tellsErrors ? ('full' as const) : MESSAGES_RECORD.toolErrors,
          }
        : { ...TRACING_RECORD, ...(seen.llm.length > 0 ? {} : spans.records) },
    gaps,
    isReplayed: seen.isReplayed,
    tools: seen.tools.length !== 0 ? [...seen.tools] : undefined,
    meta: spans?.meta ?? {},
    mentions: spans?.mentions,
    warnings: present([
      ...(spans?.warnings ?? []),
      ...(run.warnings ?? []),
      embeddingsWarning(seen.embeddings),
    ]),
  };
}

/** Spans are sent with a delay, so a program that ends at once loses the last ones. */
const isUnflushed = (exchanges: readonly DraftStep[]): boolean =>
  exchanges.some(({ parent }) => parent !== undefined) && exchanges.at(-1)?.parent === undefined;

function spanDraft(records: readonly RawRecord[]): Draft | undefined {
  if (records.length === 0) return undefined;
  const read = records.map(readOtlp);
  const spans = joinLogs({
    spans: read.flatMap((one) => one.spans),
    logs: read.flatMap((one) => one.logs),
  });
  return draftOfSpans(spans, FORMAT);
}

/** A call that a reply asked for and whose outcome nothing shows may still be under way, or never have run. */
function withPendingCalls(trace: Trace): Trace {
  const isPending = (step: Step): boolean =>
    step.kind === 'tool' &&
    step.status === 'unknown' &&
    step.result === undefined &&
    step.resultParts === undefined &&
    step.evidence.every((kind) => kind === 'message');
  if (!trace.steps.some(isPending)) return trace;
  return {
    ...trace,
    steps: trace.steps.map((step) => (isPending(step) ? { ...step, status: 'pending' } : step)),
  };
}
