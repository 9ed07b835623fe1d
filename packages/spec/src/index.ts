export { queryOfTurn, withTurns } from './conversation.ts';
export { countChecks } from './count-checks.ts';
export {
  codePlace,
  DISK,
  isInside,
  readContextFile,
  realPath,
  type SpecFiles,
  SpecFolder,
} from './files.ts';
export { INCLUDE_TAG } from './include.ts';
export { specJsonSchema } from './json-schema.ts';
export { unknownKeyHint } from './keys.ts';
export { isLayer } from './layer-keys.ts';
export { loadSpec, readSpecFile, SpecError } from './load.ts';
export {
  COMPOSITE,
  hasMetrics,
  isBounded,
  type MetricRequest,
  metricRequests,
} from './metric-list.ts';
export { parseSpec } from './parse-spec.ts';
export { SpecProblems } from './problems.ts';
export { queryId, slugOf } from './query-id.ts';
export {
  countAllRubrics,
  countRubrics,
  hasRubrics,
  hasTopRubrics,
  itemsOf,
  type RubricItem,
} from './rubric.ts';
export { readRunner } from './runner.ts';
export {
  CAPTURE_PLANES,
  type CapturePlane,
  type HttpRunnerConfig,
  MAX_TIMEOUT_MS,
  PLACEHOLDER,
  type RunnerConfig,
} from './runner-config.ts';
export { isPromptFile, readPromptFile } from './runner-prompt-file.ts';
export { selectQueries } from './select.ts';
export type {
  ConversationPlan,
  LayerBlock,
  PolicyTest,
  Query,
  ScriptEntry,
  StatePlan,
  Suite,
  TurnChecks,
  UserPlan,
} from './suite.ts';
export { checkValue, emptyKey, isBroken, isNull } from './value-check.ts';
