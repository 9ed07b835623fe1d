export {
  type AgentRun,
  agentRuns,
  latestQueries,
  type Series,
  seriesOf,
} from './history/agent-runs.ts';
export { ALL_BRANCHES, chooseRuns, usualBranch } from './history/choose-runs.ts';
export { costsBy, PERIODS, type Period, type PeriodCost } from './history/costs.ts';
export { type FirstBad, findFirstBad } from './history/first-bad.ts';
export { FLAKY_MIN_RUNS, type FlakyReport, FlakyTally } from './history/flaky.ts';
export {
  appendRuns,
  historyRoot,
  isCut,
  isSafeId,
  type Lines,
  MAX_QUERY_FILES,
  queriesPath,
  readAllRuns,
  readQueries,
  readRuns,
  seenInHistory,
} from './history/history-files.ts';
export {
  type HistoryQuery,
  type HistoryRun,
  historyQuery,
  historyRun,
  isHistoryQuery,
  isHistoryRun,
} from './history/history-run.ts';
export {
  type LostVerdicts,
  type PastRuns,
  type PastVerdict,
  type PastVerdicts,
  readPastRuns,
  readPastVerdicts,
} from './history/past-verdicts.ts';
export {
  type CaseInRun,
  type Drift,
  overallRate,
  queryTrend,
  suiteTrend,
  type Trend,
  type TrendPoint,
} from './history/trend.ts';
export { type CassetteChoice, planCassettes } from './run/cassette-choice.ts';
export { servedCheck, spendsMoney } from './run/cassette-use.ts';
export { Cassettes, type Played } from './run/cassettes.ts';
export { compareCells } from './run/cells.ts';
export { BaselineSet } from './run/choose-baselines.ts';
export { blankResult } from './run/combine-runs.ts';
export { concludeRun } from './run/conclude-run.ts';
export { diffTraces } from './run/diff-traces.ts';
export { type DiffVersionsInput, diffVersions } from './run/diff-versions.ts';
export { evaluateQuery } from './run/evaluate-query.ts';
export { evaluateRecorded } from './run/evaluate-recorded.ts';
export type { TraceEvaluator } from './run/evaluate-trace.ts';
export { interpretRecording } from './run/interpret-output.ts';
export { joinParts, joinUnused } from './run/join-parts.ts';
export { recordingOf, TraceMatcher } from './run/match-traces.ts';
export type { RunPlan } from './run/plan-run.ts';
export {
  MAX_SHARDS,
  planHash,
  planShards,
  queriesOfShard,
  type ShardPlan,
} from './run/plan-shards.ts';
export { runPool } from './run/pool.ts';
export { skippedNotice } from './run/recorded-source.ts';
export { rubricQuestion } from './run/rubric-question.ts';
export type { RunEvent } from './run/run-event.ts';
export type { AgentFunction, QueueChoice, RunOptions } from './run/run-options.ts';
export type { RunParts } from './run/run-parts.ts';
export type { RunSink } from './run/run-sink.ts';
export { runSuite } from './run/run-suite.ts';
export {
  findBaselines,
  listBaselines,
  loadBaseline,
  type Precheck,
  type SaveBaselineInput,
  type SavedBaseline,
  saveBaseline,
  storeBaseline,
} from './run/save-baseline.ts';
export { selectedQueries } from './run/select-cases.ts';
export { createTraceVerdicts, type TraceVerdicts } from './run/trace-verdicts.ts';
export { freshTraces, readTracesOfQueries } from './run/traces-of-queries.ts';
export { versionCases } from './run/version-cases.ts';
export { type RecordedCase, versionNotices, versionRun } from './run/version-run.ts';
export { createRunner } from './runners/create-runner.ts';
export { createModuleRunner } from './runners/module.ts';
export { type AgentEnd, AgentError, type RunAbout } from './runners/runner.ts';
export { reasonIn } from './runners/stderr-reason.ts';
export {
  type BaselineFile,
  type BaselineInfo,
  type BaselineList,
  baselinePath,
  listAllBaselineFiles,
  listBaselineFiles,
  readBaselineTrace,
  usableBaselines,
} from './store/baseline-files.ts';
export {
  cassettePath,
  checkCassettePlace,
  listCassetteFiles,
  readCassetteFile,
  removeCassetteFile,
  writeCassetteFile,
} from './store/cassette-files.ts';
export {
  JOURNAL_SCHEMA,
  type JournalEntry,
  type JournalHeader,
  type JudgedRun,
  journalPath,
  readHeader,
} from './store/journal.ts';
export { readResumed } from './store/resumed-note.ts';
export { RunLock } from './store/run-lock.ts';
export { type Durability, RunStore, type StoreOptions } from './store/run-store.ts';
export {
  type CiJob,
  gatesPath,
  type PlanFile,
  readPlanFile,
  readShardFile,
  type ShardFile,
  shardPath,
} from './store/shard-file.ts';
export {
  isDamage,
  isPart,
  judgedRun,
  type LatestVerdicts,
  latestVerdicts,
  listRuns,
  readRun,
  runWithTraces,
  type StoredRun,
  seenInStore,
  tracesOf,
} from './store/stored-runs.ts';
export { readTimings, timingsPath, updateTimings } from './store/timings.ts';
