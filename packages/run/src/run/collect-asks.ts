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

/** External services of checks: the user's own code, and the similarity of texts. */
export interface Outside {
  readonly code?: (item: CodeItem, context: CheckContext) => Promise<CheckOutcome>;
  readonly embed?: (texts: readonly string[], model: string | undefined) => Promise<Embedded>;
}

export type Embedded =
  | { readonly ok: true; readonly vectors: readonly (readonly number[])[]; readonly model: string }
  | { readonly ok: false; readonly reason: string };

/** All external requests that the checks of a query need. Usually empty. */
export function collectAsks(query: Query): readonly RootedAsk[] {
  // Called for every query, and most have no requests.
  for (const layer of LAYERS)
    if (asksIn(layer, query[layer]).length > 0)
      return LAYERS.flatMap((each) => asksIn(each, query[each]));
  return NONE;
}

/** Whether a query or one of its turns has a check with an external request. */
export const needsOutside = (query: Query): boolean =>
  withTurns(query).some((each) => collectAsks(each).length > 0);

const NONE: readonly RootedAsk[] = [];

/** Rubrics inside combinators that are undecided without them. The others need no judge. */
export function openRubrics(
  asks: readonly RootedAsk[],
  correctness: LayerResult,
): readonly RootedAsk[] {
  const isOpen = ({ root }: RootedAsk): boolean =>
    correctness.checks.some(({ id, status }) => id === `correctness.${root}` && !isDecided(status));
  return asks.filter((ask) => ask.kind === 'rubric' && isOpen(ask));
}

/** Turns a judged rubric into the outcome of a check. */
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
