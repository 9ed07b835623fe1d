import { type CombinedVerdict, combineVerdicts } from './combine-verdicts.ts';
import {
  isFailure,
  type Judge,
  type JudgeFailure,
  type JudgeQuestion,
  type Verdict,
} from './port.ts';

/** The combined judgement with every single reply. */
export interface Judgement extends CombinedVerdict {
  readonly isEnsemble: boolean;
  readonly replies: readonly (Verdict | JudgeFailure)[];
}

/**
 * Asks the judge, or all members of its ensemble at once. A member's error reduces the quorum,
 * never the mean.
 */
export async function judgeAnswer(options: {
  readonly judge: Judge;
  readonly question: JudgeQuestion;
  readonly useEnsemble: boolean;
}): Promise<Judgement> {
  const { judge, question, useEnsemble } = options;
  const size = judge.ensemble?.size ?? 0;
  const isEnsemble = useEnsemble && size > 0;
  const votes = isEnsemble ? Array.from({ length: size }, (_, i) => i + 1) : [0];
  const replies = await Promise.all(votes.map((vote) => judge.ask({ ...question, vote })));
  const verdicts = replies.filter((reply): reply is Verdict => !isFailure(reply));
  const { threshold } = question.rubric;
  return { ...combineVerdicts({ verdicts, threshold, asked: votes.length }), isEnsemble, replies };
}
