import { mean } from '@agentci/stats';
import { categoryOf, type DecisionQualityCategory, isActionable } from './category.ts';
import { readGroundTruth, scoreCorrectness } from './correctness.ts';
import type { PartScore } from './part-score.ts';
import {
  type DecisionQualityProfileChoice,
  type DecisionQualityWeights,
  resolveProfile,
} from './profile.ts';
import { roundTo4 } from './round.ts';
import { scoreSpecificity } from './specificity.ts';
import { scoreValidity } from './validity.ts';

export interface DecisionQualityInput {
  readonly actions: readonly string[];
  /**
   * The resolution of the case. A list holds alternatives, of which the closest counts for each
   * action.
   */
  readonly groundTruth: string | readonly string[];
  readonly profile?: DecisionQualityProfileChoice;
  /** Override the profile's weights. */
  readonly weights?: DecisionQualityWeights;
}

/** The scores of one action, by rule. */
export interface ActionScore {
  readonly action: string;
  readonly validity: PartScore;
  readonly specificity: PartScore;
  readonly correctness: PartScore;
}

export interface DecisionQuality {
  readonly validity: number;
  readonly specificity: number;
  readonly correctness: number;
  readonly dq: number;
  readonly category: DecisionQualityCategory;
  readonly actionable: boolean;
  readonly action_count: number;
  readonly actions: readonly ActionScore[];
}

/** Scores proposed actions: are they feasible, concrete and correct? No actions score 0. */
export function scoreDecisionQuality(input: DecisionQualityInput): DecisionQuality {
  const chosen = resolveProfile(input.profile);
  const profile =
    input.weights === undefined ? chosen : resolveProfile({ ...chosen, weights: input.weights });
  const truth = readGroundTruth(input.groundTruth);
  const actions = input.actions.map(
    (action): ActionScore => ({
      action,
      validity: scoreValidity(action, profile),
      specificity: scoreSpecificity(action, profile),
      correctness: scoreCorrectness(action, truth),
    }),
  );
  const average = (part: 'validity' | 'specificity' | 'correctness'): number =>
    mean(actions.map((action) => action[part].score)) ?? 0;
  const parts = {
    validity: average('validity'),
    specificity: average('specificity'),
    correctness: average('correctness'),
  };
  // Uses unrounded parts, because rounding twice would change the last digit.
  const dq = roundTo4(weighted(parts, profile.weights));
  return {
    validity: roundTo4(parts.validity),
    specificity: roundTo4(parts.specificity),
    correctness: roundTo4(parts.correctness),
    dq,
    category: categoryOf(dq),
    actionable: isActionable(dq),
    action_count: actions.length,
    actions,
  };
}

export const weighted = (parts: DecisionQualityWeights, weights: DecisionQualityWeights): number =>
  weights.validity * parts.validity +
  weights.specificity * parts.specificity +
  weights.correctness * parts.correctness;
