import { present } from '@agentci/lib/data';
import type { DraftStep, Turn } from '../build/draft.ts';
import { label, pick } from '../build/values.ts';
import type { Span } from './span.ts';

/** A span with the steps it describes. */
export interface ReadSpan {
  readonly span: Span;
  readonly dialect: string | undefined;
  /** Whether it follows no convention that is known. */
  readonly isForeign?: boolean;
  readonly steps: readonly DraftStep[];
}

const SESSION = [
  'gen_ai.conversation.id',
  'session.id',
  'langfuse.session.id',
  'gcp.vertex.agent.session_id',
];

/** The session or conversation a span names. */
export const sessionOf = ({ attributes, resource }: Span): string | undefined =>
  label(pick(attributes, ...SESSION) ?? pick(resource, ...SESSION));

/**
 * Groups spans by run: by the recorder's run id, else by trace id. Instrumentations without runs
 * give every model call its own trace; those are joined if one was sent the calls another
 * requested, or if they share a session and have no agent above them.
 */
export function groupRuns(spans: readonly ReadSpan[]): ReadSpan[][] {
  const groups = new Groups();
  const byCall = new Map<string, string>();
  for (const { span } of spans) groups.add(keyOf(span));
  const bare = bareTraces(spans);
  const shared = sharedIds(spans);
  for (const { span, steps } of spans) {
    const key = keyOf(span);
    const session = sessionOf(span);
    if (session !== undefined && bare.has(key)) groups.join(key, `session ${session}`);
    for (const id of steps.flatMap(callIds)) {
      if (shared.has(id)) continue;
      const other = byCall.get(id);
      if (other === undefined) byCall.set(id, key);
      // Runs with different ids stay separate, whatever else they share.
      else if (!(key.startsWith('run ') && other.startsWith('run '))) groups.join(key, other);
    }
  }
  return groups.collect(spans, (span) => keyOf(span.span));
}

/** Spans without ids belong to one run, that of their file. */
function keyOf(span: Span): string {
  const run = label(span.resource['agentci.run_id']);
  if (run !== undefined) return `run ${run}`;
  if (span.traceId !== undefined) return `trace ${span.traceId}`;
  const session = span.name.startsWith('claude_code.') ? sessionOf(span) : undefined;
  return session === undefined ? 'file' : `session ${session}`;
}

/** Traces in which no agent was recorded. */
function bareTraces(spans: readonly ReadSpan[]): Set<string> {
  const bare = new Set(spans.map(({ span }) => keyOf(span)));
  for (const { span, steps } of spans)
    if (steps.some(({ kind }) => kind === 'agent')) bare.delete(keyOf(span));
  return bare;
}

/**
 * Call ids that replies of several traces use, because a server restarts its ids in every run. They
 * join nothing.
 */
function sharedIds(spans: readonly ReadSpan[]): Set<string> {
  const askedIn = new Map<string, string>();
  const shared = new Set<string>();
  for (const { span, steps } of spans) {
    const key = keyOf(span);
    for (const step of steps) {
      if (step.kind !== 'llm') continue;
      for (const { id } of step.output?.calls ?? []) {
        if (id === undefined) continue;
        if ((askedIn.get(id) ?? key) !== key) shared.add(id);
        askedIn.set(id, key);
      }
    }
  }
  return shared;
}

function callIds(step: DraftStep): string[] {
  if (step.kind === 'tool') return step.callId === undefined ? [] : [step.callId];
  if (step.kind !== 'llm') return [];
  const turns: readonly Turn[] = present([
    ...(step.input ?? []),
    step.output === undefined ? undefined : step.output,
  ]);
  return turns.flatMap(({ callId, calls }) =>
    present([
      callId === undefined ? undefined : callId,
      ...(calls ?? []).flatMap(({ id }) => (id === undefined ? [] : [id])),
    ]),
  );
}

/** Sets that grow together. */
class Groups {
  readonly #parent = new Map<string, string>();

  add(key: string): void {
    if (!this.#parent.has(key)) this.#parent.set(key, key);
  }

  join(a: string, b: string): void {
    this.add(b);
    const [first, second] = [this.#root(a), this.#root(b)];
    if (first !== second) this.#parent.set(second, first);
  }

  collect<T>(items: readonly T[], key: (item: T) => string): T[][] {
    const found = new Map<string, T[]>();
    for (const item of items) {
      const root = this.#root(key(item));
      const same = found.get(root);
      if (same === undefined) found.set(root, [item]);
      else same.push(item);
    }
    return [...found.values()];
  }

  #root(key: string): string {
    let root = key;
    for (
      let above = this.#parent.get(root);
      above !== undefined && above !== root;
      above = this.#parent.get(root)
    )
      root = above;
    this.#parent.set(key, root);
    return root;
  }
}
