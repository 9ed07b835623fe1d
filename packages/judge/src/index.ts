export { type AuditReport, auditJudge } from './audit.ts';
export { type Budget, limitedBudget } from './budget.ts';
export { type Agreement, type Calibration, calibrate, type LabelledScore } from './calibrate.ts';
export { combineVerdicts } from './combine-verdicts.ts';
export { createJudge } from './create-judge.ts';
export { capLength } from './data-block.ts';
export { type Judgement, judgeAnswer } from './ensemble.ts';
export { DEFAULT_ENSEMBLE, type JudgeConfig } from './judge-config.ts';
export {
  asBlind,
  isScore,
  type Label,
  LabelBook,
  type LabelProblem,
  parseLabels,
} from './labels.ts';
export { JUDGE_MODES, type JudgeMode } from './mode.ts';
export { ModelError } from './model-error.ts';
export { DEFAULT_MODEL, KEY_VARIABLES, parseModelName, showModel } from './model-name.ts';
export { parseVerdict } from './parse-verdict.ts';
export {
  countLines,
  describeLines,
  describeMoved,
  type PassingLine,
  type PassingLines,
  passingLine,
  SpecLines,
} from './passing-line.ts';
export {
  isFailure,
  type Judge,
  type JudgeFailure,
  type JudgeFailureKind,
  type JudgeQuestion,
  type JudgeRecord,
  type JudgeTask,
  type JudgeUsage,
  type TaskReply,
  type Verdict,
  type VerdictLabel,
} from './port.ts';
export { judgePrompt, MAX_ANSWER, MAX_CONVERSATION } from './prompt.ts';
export { callModel, type ModelReply } from './providers.ts';
export { type RaterPair, raterPairs, settleLabels } from './rater-agreement.ts';
export {
  DEFAULT_THRESHOLD,
  isTemplate,
  needsOf,
  type ResolvedRubric,
  RUBRICS,
  resolveRubric,
  type WrittenRubric,
} from './rubric.ts';
export { isSampled } from './sample.ts';
export { taskPrompt } from './task.ts';
export { judgeThreshold } from './threshold.ts';
