import type { Failure } from '@agentci/trace';
import type { DraftStep } from '../build/draft.ts';
import { label, text } from '../build/values.ts';
import type { Span } from './span.ts';

/** One way of writing agents into span attributes, decided span by span. */
export interface Dialect {
  /** As shown in `source.dialects`. */
  readonly name: string;
  readonly matches: (span: Span) => boolean;
  /**
   * The step of a span. Undefined for framework spans. A second step may follow, such as a handoff.
   */
  readonly read: (span: Span) => Reading | readonly Reading[] | undefined;
}

type Unplaced<S> = S extends DraftStep ? Omit<S, 'key' | 'parent' | 't0' | 't1' | 'raw'> : never;
/** A step without its position in the tree. */
export type Reading = Unplaced<DraftStep>;

/** Success is usually unset, and a span without any status says nothing. */
export const statusOf = (span: Span): 'ok' | 'error' | undefined => {
  if (span.outcome === undefined) return failureOf(span) === undefined ? undefined : 'error';
  if (span.outcome === 'error') return 'error';
  return failedByType(span);
};

/** MCP clients and SDKs set `error.type` and leave the status alone. */
const failedByType = (span: Span): 'ok' | 'error' =>
  label(span.attributes['error.type']) === undefined ? 'ok' : 'error';

/** The failure: the recorded exception, else the status message, else the error type. */
export function failureOf(span: Span): Failure | undefined {
  const exception = span.events.find(({ name }) => name === 'exception')?.attributes ?? {};
  const failure: Failure = {
    type: label(exception['exception.type']) ?? label(span.attributes['error.type']),
    message:
      label(exception['exception.message']) ??
      span.statusMessage ??
      label(span.attributes['error.message']),
    stack: text(exception['exception.stacktrace']),
  };
  const isFailed = span.outcome === 'error' || label(span.attributes['error.type']) !== undefined;
  return isFailed ? failure : undefined;
}

/** Status and error, as every step of a span has them. */
export const fate = (span: Span): { status?: 'ok' | 'error'; error?: Failure } => ({
  status: statusOf(span),
  error: failureOf(span),
});
