import type { DecisionQualityProfileChoice, DecisionQualityWeights } from '@agentci/metrics';
import { type ActionSource, actionsOf, scoreDecisionQuality } from '@agentci/metrics';
import type { Trial } from '@agentci/results';
import type { Trace } from '@agentci/trace';
import { type PriceLookup, type Quantity, totals } from '@agentci/trace';
import { timeToUnderstanding } from './time-to-understanding.ts';

/** Scoring settings of an experiment. */
export interface Scoring {
  /** Absent if decision quality is not measured. */
  readonly groundTruth?: string | readonly string[];
  readonly profile: DecisionQualityProfileChoice;
  readonly weights: DecisionQualityWeights;
  readonly actions: ActionSource;
  readonly price?: PriceLookup;
}

type Parts = Pick<Trial, 'validity' | 'specificity' | 'correctness' | 'dq' | 'actions'>;

/**
 * The decision quality of proposed actions as fields of a trial. All null without a ground truth.
 */
export function scoredParts(actions: readonly string[] | undefined, scoring: Scoring): Parts {
  const { groundTruth, profile, weights } = scoring;
  const none = { validity: null, specificity: null, correctness: null, dq: null };
  if (actions === undefined) return none;
  if (groundTruth === undefined) return { ...none, actions };
  const { validity, specificity, correctness, dq } = scoreDecisionQuality({
    actions,
    groundTruth,
    profile,
    weights,
  });
  return { validity, specificity, correctness, dq, actions };
}

/**
 * Scores one recorded trial. A recording without a usable answer is a failed trial, not a score of
 * 0.
 */
export function trialOf(
  trace: Trace,
  name: Pick<Trial, 'condition' | 'trial'>,
  scoring: Scoring,
): Trial {
  const found = actionsOf(trace, scoring.actions);
  if (trace.status === 'error')
    return failedTrial(name, trace.error?.message ?? 'the recording says that the run failed');
  if (!found.ok && scoring.groundTruth !== undefined) return failedTrial(name, found.why);
  const time = timeToUnderstanding(trace);
  const used = totals(trace, scoring.price === undefined ? {} : { price: scoring.price });
  return {
    ...name,
    ...scoredParts(found.ok ? found.actions : undefined, scoring),
    t2u_s: time.ok ? time.seconds : null,
    cost_usd: exactly(used.costUsd),
    total_tokens: exactly(used.totalTokens),
  };
}

const exactly = (quantity: Quantity): number | null => (quantity.exact ? quantity.value : null);

/** A trial without measurements, and the reason. */
export const failedTrial = (name: Pick<Trial, 'condition' | 'trial'>, error: string): Trial => ({
  ...name,
  validity: null,
  specificity: null,
  correctness: null,
  dq: null,
  t2u_s: null,
  error,
});
