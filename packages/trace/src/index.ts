export { agentKey } from './agent-key.ts';
export { type CallFacts, callFacts } from './call-facts.ts';
export { captureLevel, nothingCaptured } from './captured.ts';
export { driftWarnings } from './drift.ts';
export { failureOf } from './failure.ts';
export {
  type Fields,
  isFields,
  isGiven,
  listAt,
  objectAt,
  optionalText,
  refuse,
} from './fields.ts';
export { FINISH_KEYS, finishOf, finishOfAnswer } from './finish.ts';
export { mayHoldCalls } from './hidden-calls.ts';
export { capturedCalls, coverage, namesOf, quantityOf } from './known-calls.ts';
export {
  maskedReason,
  maskedTest,
  maskTrace,
  secretsInTrace,
  withoutMasked,
} from './mask-trace.ts';
export {
  type Agent,
  type AgentStep,
  CAPABILITIES,
  type Capability,
  type Captured,
  type CaptureLevel,
  type Conversation,
  type ConversationEnding,
  type Cost,
  ENDINGS,
  type EventStep,
  type Failure,
  type GuardrailStep,
  type HandoffStep,
  type LlmStep,
  type Message,
  type MessageStep,
  type Part,
  type ResourceSample,
  type RetrievalStep,
  type Step,
  type ToolDef,
  type ToolStep,
  TRACE_SCHEMA,
  type Trace,
  type TraceSource,
  type Turn,
  UNFINISHED,
  type Usage,
} from './model.ts';
export { addMultiAgent, agentsIn, hasReading, resourceOf } from './multi-agent.ts';
export { TRACE_LIMITS, validateTrace } from './schema.ts';
export {
  captures,
  contextOf,
  finalText,
  handoffs,
  llmCalls,
  queryText,
  toolCalls,
  toolNames,
} from './selectors.ts';
export { parseSimple, placeId, SIMPLE_KEYS, simpleTrace } from './simple.ts';
export { setArguments } from './simple-calls.ts';
export { StepList } from './step-list.ts';
export {
  isMeant,
  isUnnamed,
  meantNames,
  parallelCalls,
  splitToolName,
  UNNAMED,
} from './tool-name.ts';
export { type PriceLookup, type Quantity, type Totals, totals } from './totals.ts';
export { TraceError } from './trace-error.ts';
export { joinLines, TRANSCRIPT_FORM, transcriptLines, turnLine } from './transcript.ts';
export { answerOfTurn, joinTurns, type TurnRun, traceOfTurn, turnsOf } from './turns.ts';
export { isNativeTrace, upgradeTrace } from './upgrade.ts';
