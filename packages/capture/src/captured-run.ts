import type { RawRecord } from '@agentci/formats';
import { capturedTrace, pairRecord, withHints } from '@agentci/formats';
import type { Trace } from '@agentci/trace';
import { ownSteps } from './earlier-turns.ts';
import { type Exchange, MISS_HEADER } from './exchange.ts';
import { exchangeRecord } from './exchange-line.ts';
import type { Evidence } from './plane.ts';

/** The observation of one query: its trace, unless nothing was seen, and warnings. */
export interface CaptureResult {
  readonly id: string;
  readonly evidence: Evidence;
  readonly trace?: Trace | undefined;
  /** Warnings for the trace of a live run, with or without a captured one. */
  readonly warnings: Trace['warnings'];
}

/** Reads the evidence of one query as a trace. `nothing` is the reason if there is none. */
export function readEvidence(evidence: Evidence, id: string, nothing?: string): CaptureResult {
  const exchanges: RawRecord[] = evidence.exchanges.map((exchange) => ({
    value: exchangeRecord(exchange, id),
  }));
  const taps = evidence.mcp.map(({ server, lines }) => ({
    server,
    records: lines.map((value) => ({ value })),
  }));
  const telemetry: RawRecord[] = evidence.telemetry.map((value) => ({ value }));
  const pairs = new Map(exchanges.map((record) => [record, pairRecord(record)]));
  const pairOf = (record: RawRecord) => pairs.get(record) ?? pairRecord(record);
  const built = capturedTrace({ id, exchanges, pairOf, telemetry, taps, gaps: evidence.gaps });
  const [item] = withHints(built, [...pairs.values()]);
  const warnings = [...evidence.notes, ...failures(evidence)].map(({ code, message }) => ({
    code,
    message,
  }));
  if (item === undefined) {
    const passed = evidence.exchanges.length;
    const seen =
      nothing ??
      (passed === 0
        ? 'no call of a model, no span and no call of an MCP tool came through it'
        : `none of the ${passed} requests that came through it is a call of a model`);
    return {
      id,
      evidence,
      warnings: [
        ...warnings,
        { code: 'CAPTURE_NOTHING', message: `the capture saw nothing: ${seen}` },
      ],
    };
  }
  if (!item.ok)
    return {
      id,
      evidence,
      warnings: [
        ...warnings,
        {
          code: item.problem.code,
          message: `the capture could not be read: ${item.problem.message}`,
        },
      ],
    };
  return { id, evidence, trace: item.trace, warnings };
}

/**
 * Like `readEvidence`, for one turn of a conversation. Ignores parts of its requests that repeat
 * earlier turns.
 */
export function readTurn(
  evidence: Evidence,
  id: string,
  earlier: readonly Exchange[],
): CaptureResult {
  const own = readEvidence(evidence, id);
  if (earlier.length === 0 || evidence.exchanges.length === 0 || own.trace === undefined)
    return own;
  const before = readEvidence({ ...NOTHING, exchanges: counted(earlier) }, id);
  // All turns together, so that every call finds the reply that requested it.
  const whole = readEvidence(
    { ...evidence, exchanges: counted([...earlier, ...evidence.exchanges]) },
    id,
  );
  return before.trace === undefined || whole.trace === undefined
    ? own
    : { ...own, trace: ownSteps(whole.trace, before.trace) };
}

/** Like `readTurn`, but on demand, so that the agent can get its next query first. */
export function readLater(
  evidence: Evidence,
  id: string,
  earlier: readonly Exchange[],
): CaptureResult {
  let known: CaptureResult | undefined;
  const result = (): CaptureResult => {
    known ??= readTurn(evidence, id, earlier);
    return known;
  };
  return {
    id,
    evidence,
    get trace() {
      return result().trace;
    },
    get warnings() {
      return result().warnings;
    },
  };
}

const NOTHING: Evidence = { exchanges: [], telemetry: [], mcp: [], gaps: [], notes: [] };

const counted = (exchanges: readonly Exchange[]): Exchange[] =>
  exchanges.map((exchange, at) => ({ ...exchange, i: at + 1 }));

/** Reasons why calls have no readable reply. */
function failures({ exchanges }: Evidence): Evidence['notes'] {
  const calls = exchanges.filter(({ route }) => route !== 'other');
  const reasons = calls.flatMap((exchange) => reasonOf(exchange) ?? []);
  if (reasons.length === 0) return [];
  const [first] = reasons;
  return [
    {
      code: 'CAPTURE_UPSTREAM_FAILED',
      message: `${reasons.length} of ${calls.length} calls of a model got no usable reply: ${first}`,
    },
  ];
}

function reasonOf({ error, status, headers, uri, why }: Exchange): string | undefined {
  // The upstream was not asked, so a missing reply is not its fault. The cassette reports the call.
  if (headers[MISS_HEADER] !== undefined) return undefined;
  if (error !== undefined) return error;
  let what: string | undefined;
  if (why === 'upstream_reset') what = 'broke the connection off';
  else if (status !== undefined && status >= 400) what = `answered with status ${status}`;
  else if (/^text\/html\b/i.test(headers['content-type'] ?? '')) what = 'answered with a web page';
  return what === undefined ? undefined : `${new URL(uri).host} ${what}`;
}
