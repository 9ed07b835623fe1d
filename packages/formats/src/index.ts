export type { AdapterItem, RawRecord, TraceProblem } from './adapter.ts';
export { dataStreamPart } from './build/data-stream-part.ts';
export type { GapNote } from './build/draft.ts';
export { fields, nanoseconds, objects, parseJson } from './build/values.ts';
export { eventStreamIn, isEventStream } from './containers/aws-event-stream.ts';
export { decodeRequest } from './containers/protobuf.ts';
export { isGzip } from './containers/sniff.ts';
export { capturedTrace } from './formats/agentci-exchange/captured-trace.ts';
export {
  bytesOf,
  bytesToJson,
  EXCHANGE_SCHEMA,
  type ExchangeRecord,
  pairRecord,
  unpacked,
} from './formats/agentci-exchange/exchange-record.ts';
export { adapter } from './formats/agentunit/agentunit.ts';
export { AiParts, isDataStreamText } from './formats/vercel-ai-sdk/ai-parts.ts';
export { ADAPTERS } from './index.gen.ts';
export { dialectOf } from './otel/choose-dialect.ts';
export { declaredTool, mayTellKind } from './otel/dialects/declared.ts';
export { isAgentLog } from './otel/join-logs.ts';
export { idOf, isOtlp, readOtlp } from './otel/read-otlp.ts';
export { namesInEvents } from './otel/signs.ts';
export type { LogRecord, Span } from './otel/span.ts';
export { detectFormat } from './reader/detect.ts';
export { withHints } from './reader/hints.ts';
export { withHole } from './reader/hole.ts';
export {
  type ReadOptions,
  readTraceBatches,
  readTraceItems,
  readTraces,
} from './reader/read-traces.ts';
