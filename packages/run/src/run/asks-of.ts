import type { CodeItem } from '@agentci/checks';
import {
  asksIn,
  type CheckContext,
  type CheckOutcome,
  held,
  type RootedAsk,
  skipped,
  unmeasured,
  violated,
} from '@agentci/checks';
import { type CheckResult, isDecided, LAYERS, type LayerResult } from '@agentci/results';
import type { Query } from '@agentci/spec';
import { withTurns } from '@agentci/spec';

/** What checks may ask of the world outside: the user's own code, and how close texts are in meaning. */
export interface Outside {
  readonly code?: (item: CodeItem, context: CheckContext) => Promise<CheckOutcome>;
  readonly embed?: (texts: readonly string[], model: string | undefined) => Promise<Embedded>;
}

export type Embedded =
  | { readonly ok: true; readonly vectors: readonly (readonly number[])[]; readonly model: string }
  | { readonly ok: false; readonly reason: string };

/** Everything that the checks of a query need from outside; mostly nothing. */
export function asksOf(query: Query): readonly RootedAsk[] {
  // Asked of every query: most have nothing to ask.
  for (const layer of LAYERS)
    if (asksIn(layer, query[layer]).length > 0)
      return LAYERS.flatMap((each) => asksIn(each, query[each]));
  return NONE;
}

/** Whether a query or one of its turns has a check that needs something from outside. */
export const needsOutside = (query: Query): boolean =>
  withTurns(query).some((each) => asksOf(each).length > 0);

const NONE: readonly RootedAsk[] = [];

/** Rubrics inside combinators that are still open without them: the others need no judge. */
export function openRubrics(
  asks: readonly RootedAsk[],
  correctness: LayerResult,
): readonly RootedAsk[] {
  const isOpen = ({ root }: RootedAsk): boolean =>
    correctness.checks.some(({ id, status }) => id === `correctness.${root}` && !isDecided(status));
  return asks.filter((ask) => ask.kind === 'rubric' && isOpen(ask));
}

/** A judged rubric as the outcome of a check. */
export function outcomeOfCheck({
  status,
  message,
  value,
  limit,
  evidence,
  skip_reason,
}: CheckResult): CheckOutcome {
  const rest = { value, limit, evidence };
  switch (status) {
    case 'pass':
      return held(message, rest);
    case 'fail':
    case 'warn':
      return violated(message, rest);
    case 'error':
      return unmeasured(message, rest);
    case 'skip':
      return skip_reason === 'not_measured'
        ? unmeasured(message)
        : skipped(skip_reason ?? 'not_run', message);
  }
}
