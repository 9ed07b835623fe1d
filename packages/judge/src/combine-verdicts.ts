import type { Verdict, VerdictLabel } from './port.ts';
import { judgeThreshold } from './threshold.ts';

export interface CombinedVerdict {
  /** Null if too few judges answered. */
  readonly passed: boolean | null;
  /** Mean score to two decimals. The decision uses the exact one. */
  readonly avg_score: number | null;
  /** The lowest passing score. */
  readonly min_score: number;
  readonly majority: VerdictLabel | null;
  /** The label contradicts the score. Recorded, but ignored for a single judge. */
  readonly label_disagrees: boolean;
  readonly votes: { readonly pass: number; readonly borderline: number; readonly fail: number };
}

/**
 * Decides for one judge or several. One: the score alone decides. Several: more than half of the
 * labels must not be `fail`, and the mean score must reach the threshold's. A tie fails. No
 * decision if half or fewer of the judges answered.
 */
export function combineVerdicts(input: {
  readonly verdicts: readonly Pick<Verdict, 'score' | 'label'>[];
  /** 0 to 1, as in the spec. */
  readonly threshold: number;
  /** Number of judges asked. Default: those that answered. */
  readonly asked?: number;
}): CombinedVerdict {
  const { verdicts, threshold, asked = verdicts.length } = input;
  const min_score = judgeThreshold(threshold);
  const votes = { pass: 0, borderline: 0, fail: 0 };
  for (const { label } of verdicts) votes[label]++;
  if (verdicts.length === 0 || verdicts.length * 2 <= asked) {
    return {
      passed: null,
      avg_score: null,
      min_score,
      majority: null,
      label_disagrees: false,
      votes,
    };
  }
  const mean = verdicts.reduce((sum, { score }) => sum + score, 0) / verdicts.length;
  const agreeing = votes.pass + votes.borderline;
  let majority: 'pass' | 'fail' | 'borderline';
  if (agreeing * 2 > verdicts.length)
    majority = votes.pass > votes.borderline ? 'pass' : 'borderline';
  else majority = 'fail';
  const reached = mean >= min_score;
  const passed = asked === 1 ? reached : reached && majority !== 'fail';
  return {
    passed,
    avg_score: Math.round(mean * 100) / 100,
    min_score,
    majority,
    label_disagrees: reached ? majority === 'fail' : majority === 'pass',
    votes,
  };
}
