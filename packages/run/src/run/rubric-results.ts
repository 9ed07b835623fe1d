import type { Severity } from '@agentci/checks';
import type { Judgement, ResolvedRubric } from '@agentci/judge';
import { isFailure, type Verdict } from '@agentci/judge';
import type { CheckResult } from '@agentci/results';

const MAX_RATIONALE = 160;

const verdictsOf = ({ replies }: Judgement): Verdict[] =>
  replies.filter((reply): reply is Verdict => !isFailure(reply));

/** The check of one rubric: the score, its limit, and the judge's reason. */
export function checkOfJudgement(
  place: Pick<CheckResult, 'id' | 'location'>,
  judgement: Judgement,
  severity: Severity = 'fail',
): CheckResult {
  const { passed, avg_score, min_score, isEnsemble, replies } = judgement;
  const verdicts = verdictsOf(judgement);
  const failures = replies.filter(isFailure).map(({ message }) => message);
  if (passed === null) {
    const who = isEnsemble
      ? `${verdicts.length} of ${replies.length} judges answered, more than half must: `
      : '';
    const message = `${who}${[...new Set(failures)].join('; ')}`;
    if (severity === 'warn')
      return { ...place, status: 'skip', skip_reason: 'not_measured', message, evidence: [] };
    return { ...place, status: 'error', message, evidence: [] };
  }
  const what = isEnsemble
    ? `mean score ${avg_score} of 5 from ${votesText(judgement)}`
    : `score ${avg_score} of 5`;
  const message = `${what}, at least ${min_score} needed${labelNote(judgement)}: ${excerpt(decisive(judgement))}`;
  return {
    ...place,
    status: passed ? 'pass' : severity,
    message,
    value: avg_score,
    limit: min_score,
    evidence: verdicts.map(({ rationale }) => ({ text: rationale })),
  };
}

function votesText({ votes, replies }: Judgement): string {
  const counted = Object.entries(votes).flatMap(([label, count]) =>
    count > 0 ? [`${count} ${label}`] : [],
  );
  const missing = replies.filter(isFailure).length;
  if (missing > 0) counted.push(`${missing} did not answer`);
  return `${replies.length} judges (${counted.join(', ')})`;
}

function labelNote({ label_disagrees, majority, isEnsemble }: Judgement): string {
  if (!label_disagrees) return '';
  return isEnsemble
    ? ` and more than half must not say fail`
    : ` (the label says ${majority}; the score decides)`;
}

/** The reason to show, if possible from a judge who voted with the majority. */
function decisive(judgement: Judgement): string {
  const { passed, min_score } = judgement;
  const verdicts = verdictsOf(judgement);
  const agreeing = verdicts.find(({ score }) => score >= min_score === passed);
  return (agreeing ?? verdicts[0])?.rationale ?? '';
}

function excerpt(rationale: string): string {
  const line = rationale.replace(/\s+/g, ' ').trim();
  return line.length > MAX_RATIONALE ? `${line.slice(0, MAX_RATIONALE - 1)}…` : line;
}

/** The content of `details.safety` and `details.hallucination`. */
export function summaryOf(judgement: Judgement): object {
  const { passed, avg_score, min_score, majority, label_disagrees } = judgement;
  return {
    passed,
    score: avg_score,
    min_score,
    label: majority,
    label_disagrees,
    rationale: decisive(judgement),
  };
}

/** Every reply of every judge, for `details.judge`. */
export function recordsOf(
  check: string,
  rubric: ResolvedRubric,
  { replies, isEnsemble }: Judgement,
): object[] {
  return replies.map((reply) => {
    const { id, version } = rubric;
    const shared = { check, rubric: { id, version }, ensemble: isEnsemble, ...reply.record };
    if (isFailure(reply)) return { ...shared, error: { kind: reply.kind, message: reply.message } };
    const { score, label, rationale } = reply;
    return { ...shared, score, label, rationale };
  });
}
