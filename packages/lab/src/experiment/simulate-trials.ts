import type { Trial } from '@agentci/results';
import { normalSample, seededRandom } from '@agentci/stats';
import { type Scoring, scoredParts } from './score-trial.ts';

export interface Simulation {
  readonly t2u?: { readonly mean: number; readonly sd: number };
  /** The actions of every simulated trial. Without them, decision quality is not measured. */
  readonly actions?: readonly string[];
}

/**
 * Simulated trials of an assumed condition: normally distributed times, never below zero,
 * deterministic by seed.
 */
export function simulateTrials(
  condition: string,
  {
    simulation,
    trials,
    seed,
    scoring,
  }: { simulation: Simulation; trials: number; seed: number; scoring: Scoring },
): Trial[] {
  const next =
    simulation.t2u === undefined ? undefined : normalSample(seededRandom(seed), simulation.t2u);
  return Array.from({ length: trials }, (_, i) => ({
    condition,
    trial: i + 1,
    ...scoredParts(simulation.actions, scoring),
    t2u_s: next === undefined ? null : Math.max(0, next()),
  }));
}
