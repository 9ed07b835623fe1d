/** The door: the names other programs rely on. Importing it has no side effects. */
export { detectFormat } from './adapters/reader/detect.ts';
export { readTraces } from './adapters/reader/read-traces.ts';
export { compareRuns } from './baseline/compare-runs.ts';
export type { DiffInput, DiffQuery } from './baseline/compare-traces.ts';
export { findRegressions, type RegressionCheck } from './baseline/regression-thresholds.ts';
export { compareSamples, type SampleRegression } from './baseline/sample-regression.ts';
export { diffTraces } from './engine/diff-traces.ts';
export { type DiffVersionsInput, diffVersions } from './engine/diff-versions.ts';
export { evaluateQuery } from './engine/evaluate-query.ts';
export type { AgentFunction, RunEvent, RunOptions } from './engine/run-options.ts';
export { runSuite } from './engine/run-suite.ts';
export {
  listBaselines,
  loadBaseline,
  type SaveBaselineInput,
  type SavedBaseline,
  saveBaseline,
} from './engine/save-baseline.ts';
export { compareConditions } from './experiment/compare-conditions.ts';
export { relativeImprovement } from './experiment/relative-improvement.ts';
export { type SensitivityOptions, weightSensitivity } from './experiment/weight-sensitivity.ts';
export {
  type ExperimentOverrides,
  loadExperiment,
  type ParsedExperiment,
  parseExperiment,
} from './experimenting/load-experiment.ts';
export { measureRatings, type RatingsOptions } from './experimenting/measure-ratings.ts';
export type { ConditionPlan, ConditionSource, ExperimentPlan } from './experimenting/plan.ts';
export type { ExperimentEvent } from './experimenting/run-condition.ts';
export { type ExperimentOptions, runExperiment } from './experimenting/run-experiment.ts';
export {
  type ImportedRecordings,
  type ImportOptions,
  importRecordings,
} from './importing/import-recordings.ts';
export {
  type MadeSuite,
  type MakeSuiteOptions,
  makeSuite,
  type SaveSuiteOptions,
  saveSuite,
} from './importing/make-suite.ts';
export { type Redacted, type RedactOptions, redactTrace } from './importing/redact-trace.ts';
export { type ImportSummary, summarizeTraces } from './importing/summarize-traces.ts';
export { type AuditReport, auditJudge } from './judge/audit.ts';
export { type Calibration, calibrate, type LabelledScore } from './judge/calibrate.ts';
export { combineVerdicts } from './judge/combine-verdicts.ts';
export { createJudge } from './judge/create-judge.ts';
export type { JudgeConfig } from './judge/judge-config.ts';
export { parseVerdict } from './judge/parse-verdict.ts';
export type {
  Judge,
  JudgeFailure,
  JudgeQuestion,
  JudgeRecord,
  JudgeTask,
  JudgeUsage,
  TaskReply,
  Verdict,
} from './judge/port.ts';
export { type ResolvedRubric, RUBRICS, resolveRubric } from './judge/rubric.ts';
export { judgeThreshold } from './judge/threshold.ts';
export type { Diagnostic, Location } from './kit/diagnostic.ts';
export { UserError } from './kit/user-error.ts';
export { composite } from './metrics/composite.ts';
export type {
  DecisionQualityProfile,
  DecisionQualityProfileChoice,
} from './metrics/decision-quality/profile.ts';
export {
  type DecisionQuality,
  type DecisionQualityInput,
  scoreDecisionQuality,
} from './metrics/decision-quality/score-decision-quality.ts';
export type { Embeddings, LocalModels } from './metrics/local-models.ts';
export {
  defineMetric,
  type Metric,
  type MetricCase,
  type MetricDefinition,
  type MetricInput,
  type MetricOutput,
  measured,
  notMeasured,
} from './metrics/metric.ts';
export { EmergentBehaviorDetector } from './metrics/multi-agent/emergent-behavior-detector.ts';
export type {
  AgentInteraction,
  AgentRole,
  ConflictEvent,
  HandoffEvent,
  MultiAgentInput,
} from './metrics/multi-agent/inputs.ts';
export { InteractionAnalyzer } from './metrics/multi-agent/interaction-analyzer.ts';
export { multiAgentMetrics } from './metrics/multi-agent/multi-agent-metrics.ts';
export { NetworkAnalyzer } from './metrics/multi-agent/network-analyzer.ts';
export { DEFAULT_METRICS, registerMetric, resolveMetrics } from './metrics/registry.ts';
export { countLoops } from './metrics/trajectory/count-loops.ts';
export { matchTools } from './metrics/trajectory/match-tools.ts';
export { sequenceEdit } from './metrics/trajectory/sequence-edit.ts';
export { sequenceLcs } from './metrics/trajectory/sequence-lcs.ts';
export { toolF1 } from './metrics/trajectory/tool-f1.ts';
export { toolPrecision } from './metrics/trajectory/tool-precision.ts';
export { toolRecall } from './metrics/trajectory/tool-recall.ts';
export { type MutateOptions, mutateSuite } from './mutating/mutate-suite.ts';
export { PolicyCoverage } from './policy/coverage.ts';
export { type EvaluateArgumentsInput, evaluateArguments } from './policy/evaluate-arguments.ts';
export { type EvaluateBlocklistInput, evaluateBlocklist } from './policy/evaluate-blocklist.ts';
export type { EvaluateRulesInput } from './policy/evaluate-rules.ts';
export { evaluateRules } from './policy/evaluate-rules.ts';
export { type ExplainInput, explainCalls } from './policy/explain.ts';
export { PolicyLearner } from './policy/generate.ts';
export type { ParsedPolicy, ParsePolicyOptions } from './policy/parse-policy.ts';
export { parsePolicy } from './policy/parse-policy.ts';
export type { Policy } from './policy/policy.ts';
export { type Report, reportText } from './reporters/reporter.ts';
export { type RenderOptions, renderReport } from './reporting/render-report.ts';
export type * from './results/diff.ts';
export { exitCode } from './results/exit-code.ts';
export type * from './results/experiment-result.ts';
export { type FailureGroup, groupFailures } from './results/failure-groups.ts';
export type * from './results/policy-report.ts';
export type * from './results/run-result.ts';
export type { RunnerConfig } from './runners/config.ts';
export { loadSpec, SpecError } from './spec/load.ts';
export { parseSpec } from './spec/parse-spec.ts';
export type { LayerBlock, Query, Suite } from './spec/suite.ts';
export type { BaselineFile, BaselineInfo } from './store/baseline-files.ts';
export type * from './trace/model.ts';
export { handoffs, toolCalls, toolNames } from './trace/selectors.ts';
export { simpleTrace } from './trace/simple.ts';
export { type Quantity, type Totals, totals } from './trace/totals.ts';
