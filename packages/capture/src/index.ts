export {
  type Capture,
  type CaptureOptions,
  type CaptureSlot,
  createCapture,
  LINGER_MS,
} from './capture.ts';
export { type CaptureResult, readEvidence } from './captured-run.ts';
export {
  type MatchRules,
  matchRules,
  readRequest,
  type StoredRequest,
} from './cassette/canonical.ts';
export type {
  Cassette,
  CassetteEntry,
  CassetteName,
  CassetteProvider,
} from './cassette/cassette.ts';
export {
  CASSETTE_MODES,
  type CassetteConfig,
  type CassetteModeChoice,
  cassetteSchema,
} from './cassette/config.ts';
export { linesOfCalls, type McpCall, readMcpCall, writeMcpCall } from './cassette/mcp-call.ts';
export { missText } from './cassette/miss-text.ts';
export { type CassetteHeader, readCassette, readHeader } from './cassette/read-cassette.ts';
export { provenText } from './cassette/record.ts';
export { RecordedAnswers } from './cassette/recorded-answers.ts';
export { DeltaWriter } from './cassette/request-delta.ts';
export { type CassetteMode, CassetteSession } from './cassette/session.ts';
export { type UserTake, UserTape } from './cassette/user-tape.ts';
export type { UserWords } from './cassette/user-words.ts';
export { providersInUse } from './environment.ts';
export type { Exchange } from './exchange.ts';
export { exchangeLine } from './exchange-line.ts';
export { maskReply } from './mask-replies.ts';
export type { Answer, ServedReply } from './model/answer.ts';
export { routeOf } from './model/route.ts';
export { receiveByTraceparent } from './otlp/by-traceparent.ts';
export type { AgentEnd, Evidence } from './plane.ts';
export { PROVIDERS, type Provider } from './providers.ts';
export { isUnnamed, targetOf, unnamedUpstream } from './upstreams.ts';
