import {
  captureLevel,
  type Fields,
  isFields,
  nothingCaptured,
  placeId,
  StepList,
  type ToolDef,
  type ToolStep,
  TRACE_SCHEMA,
  type Trace,
} from '@agentci/trace';
import type { AdapterItem, RawRecord } from '../../adapter.ts';

const EVENTS: readonly unknown[] = ['start', 'decision', 'result', 'tools', 'end'];

/** A line of the audit log of `agentci guard`. */
export const isAuditLine = (value: unknown): boolean =>
  isFields(value) &&
  EVENTS.includes(value.event) &&
  typeof value.session === 'string' &&
  typeof value.seq === 'number' &&
  typeof value.prev === 'string';

/** Each session of an audit as a trace of the forwarded calls. Refused calls were never made. */
export function readAuditLog(records: readonly RawRecord[]): readonly AdapterItem[] {
  const sessions: AuditedSession[] = [];
  const open = new Map<string, AuditedSession>();
  for (const record of records) {
    const line = record.value;
    if (!isAuditLine(line)) continue;
    const { session: name, event } = line as Fields & { session: string };
    let session = event === 'start' ? undefined : open.get(name);
    if (session === undefined) {
      session = new AuditedSession(record, event === 'start');
      sessions.push(session);
      open.set(name, session);
    }
    session.take(line as Fields);
  }
  return sessions.map((session, i) => ({ ok: true, trace: session.trace(i + 1) }));
}

type Step = Omit<ToolStep, 'id' | 'seq'>;

class AuditedSession {
  readonly #first: RawRecord;
  readonly #steps: Step[] = [];
  readonly #tools = new Map<string, ToolDef>();
  readonly #hasStart: boolean;
  #hasEnd = false;
  #refused = 0;
  #server: string | undefined;

  constructor(first: RawRecord, hasStart: boolean) {
    this.#first = first;
    this.#hasStart = hasStart;
  }

  take(line: Fields): void {
    if (typeof line.server === 'string' && line.server !== '') this.#server = line.server;
    if (line.event === 'decision') this.#decision(line);
    else if (line.event === 'result') this.#result(line);
    else if (line.event === 'end') this.#hasEnd = true;
    else if (line.event === 'tools' && Array.isArray(line.tools))
      for (const { name, description, schema } of line.tools.filter(isFields).slice(0, 1000))
        if (typeof name === 'string')
          this.#tools.set(name, {
            name,
            description: typeof description === 'string' ? description : undefined,
            schema,
          });
  }

  #decision({ decision, tool, args, redacted, continues, ts }: Fields): void {
    if (decision !== 'allow' && decision !== 'would_deny') this.#refused++;
    // A message that was flawed as a whole is passed on in shadow mode, and nothing is known of it.
    else if (typeof tool === 'string' && continues !== true)
      this.#steps.push({
        kind: 'tool',
        name: tool,
        // Redacted arguments are not the sent ones.
        args: args === undefined || redacted === true ? undefined : args,
        status: 'unknown',
        by: 'mcp',
        evidence: ['mcp'],
        ...timeOf(ts, 't0'),
        server: this.#server,
      });
  }

  #result({ call, result, error, redacted, ts }: Fields): void {
    const step = typeof call === 'number' ? this.#steps[call] : undefined;
    if (step === undefined) return;
    Object.assign(step, timeOf(ts, 't1'));
    if (error === undefined && result === undefined) return;
    step.status = typeof error === 'string' ? 'error' : 'ok';
    if (typeof error === 'string') step.error = { message: error };
    if (result !== undefined && redacted !== true) step.result = result;
  }

  trace(number: number): Trace {
    const list = new StepList();
    for (const step of this.#steps) list.add(step);
    const share = (has: (step: Step) => boolean) =>
      captureLevel(this.#steps.filter(has).length, this.#steps.length);
    const captured = nothingCaptured();
    const isWhole = this.#hasStart && this.#hasEnd;
    captured.toolCalls = isWhole ? 'full' : 'partial';
    captured.toolArgs = share(({ args }) => args !== undefined);
    captured.toolResults = share(({ result }) => result !== undefined);
    captured.toolErrors = share(({ status }) => status !== 'unknown');
    if (this.#steps.length > 0) captured.timing = 'partial';
    const times = this.#steps
      .flatMap(({ t0, t1 }) => [t0, t1])
      .filter((time) => time !== undefined);
    const { file, line } = this.#first;
    return {
      schema: TRACE_SCHEMA,
      id: file === undefined ? placeId({}) : `${file}#${number}`,
      source: {
        format: 'mcp',
        file,
        line,
      },
      status: isWhole ? 'unknown' : 'incomplete',
      agents: [],
      steps: list.steps,
      tools: this.#tools.size !== 0 ? [...this.#tools.values()] : undefined,
      startedAt: times.length === 0 ? undefined : Math.min(...times),
      endedAt: times.length === 0 ? undefined : Math.max(...times),
      meta: this.#refused === 0 ? {} : { refused_calls: this.#refused },
      captured,
      warnings: [],
    };
  }
}

function timeOf(text: unknown, key: 't0' | 't1'): { readonly t0?: number; readonly t1?: number } {
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? {} : { [key]: time };
}
