export { casesText } from './cases-text.ts';
export { cassetteText } from './cassette-text.ts';
export {
  type CaseName,
  type Cell,
  caseKey,
  caseText,
  cellKey,
  cellText,
  sameCell,
} from './cell.ts';
export {
  NOT_COUNTED,
  neededQueries,
  pairsText,
  summarizeComparison,
  wordOf,
} from './comparison-words.ts';
export {
  type ArgumentChange,
  COMPARISON_SCHEMA,
  type ComparisonVerdict,
  DIFF_SCHEMA,
  type DiffReport,
  type DiffType,
  type Edit,
  type MetricComparison,
  type MetricDelta,
  type QueryDiff,
  type Regression,
  type RegressionSeverity,
  type RunComparison,
  type RunVerdict,
  type TraceDiff,
} from './diff.ts';
export { exitCode, summarize, TRUNCATED, UNKNOWN_TOOLS } from './exit-code.ts';
export {
  AGREEMENT_SCHEMA,
  type AgreementAlpha,
  type AgreementResult,
  type AnovaResult,
  type ComponentDrivers,
  type ConditionComparison,
  type ConditionSummary,
  type ConditionsReport,
  EXPERIMENT_SCHEMA,
  type ExperimentResult,
  type IntervalJson,
  type MetricSummary,
  TRIAL_METRICS,
  type Trial,
  type TrialMetric,
  type WeightPoint,
  type WeightSensitivity,
} from './experiment-result.ts';
export { compareGroups, type FailureGroup, GROUPS_FROM, groupFailures } from './failure-groups.ts';
export { firstEvidence, withMore } from './first-evidence.ts';
export {
  AUDIT_SCHEMA,
  type AuditDecision,
  type AuditEnd,
  type AuditLine,
  type AuditResult,
  type AuditStart,
  type AuditTools,
  GUARD_RULE,
  NO_HASH,
} from './guard-audit.ts';
export type {
  LabelGiven,
  LabelItem,
  LabelPair,
  LabelRequest,
  LabelSaved,
  LabelState,
  LabelVerdict,
} from './label-data.ts';
export { maskResult } from './mask-result.ts';
export {
  type IdleCheck,
  MUTATION_SCHEMA,
  type MutationResult,
  type MutationScore,
  type Survivor,
  type SurvivorAdvice,
} from './mutation-result.ts';
export {
  PAGE_SCHEMA,
  type PageBefore,
  type PageBeforeQuery,
  type PageData,
  type PageEvidence,
  type PagePoint,
  type PageRun,
  type PageRunUpdate,
  type PageStep,
  type PageTrace,
  type PageTrends,
  type PageVersion,
} from './page-data.ts';
export type {
  ArgumentsResult,
  BlocklistResult,
  CoverageReport,
  ExampleReport,
  Exercised,
  ExplainedCall,
  ExplainedCause,
  ExplainReport,
  PolicyResult,
  PolicyStatus,
  PolicyViolation,
  RuleObligation,
  RuleOutcome,
  RuleRecord,
  RulesResult,
} from './policy-report.ts';
export { resultFault } from './result-fault.ts';
export {
  misdatedRuns,
  placeAfter,
  placeAmong,
  placeOf,
  runsAhead,
  runTime,
  type SeenRun,
} from './run-order.ts';
export {
  type CassetteUse,
  type CellComparison,
  type CellSummary,
  type CheckPart,
  type CheckResult,
  type CheckStatus,
  type ConversationResult,
  type Evidence,
  type FlipSource,
  LAYERS,
  type Layer,
  type LayerResult,
  type MetricResult,
  type PassHatK,
  type QueryError,
  type QueryResult,
  RESULTS_SCHEMA,
  type RunResult,
  type RunSummary,
  type RunSummaryCounts,
  type SkipReason,
  type Spread,
  type Stability,
  type TraceWarning,
  type TurnResult,
  type UnusedResults,
  type UserAudit,
} from './run-result.ts';
export {
  decidedRuns,
  isExpectedFailure,
  isPass,
  ownStatus,
  verdictsOfRuns,
} from './run-verdicts.ts';
export { shownRunText, worstRun } from './shown-run.ts';
export {
  checksOf,
  emptyLayer,
  isDecided,
  isUnmeasured,
  messagesOf,
  worseStatus,
  worstStatus,
} from './status.ts';
export {
  countsOf,
  isStorable,
  type ResultTexts,
  StoredResult,
  usedBy,
  wholeResult,
} from './stored-result.ts';
export { addsUp, summaryFault } from './summary-fault.ts';
export { isOfSpec, mayHideCall, mergeWarnings, toWarnings } from './trace-warnings.ts';
export { type Usage, type UsageKey, usageInAll, usagePerRun } from './usage.ts';
