export { hasLostDigits, isExactNumber, parseExact, stringifyExact } from './exact-json.ts';
export {
  type BrokenDocument,
  type FoundDocuments,
  findDocuments,
  type JsonDocument,
} from './json-documents.ts';
export { findJsonError } from './json-error.ts';
export { jsonIn } from './json-in-text.ts';
export { duplicateKeyIn, findDuplicateKey, parseUnambiguous } from './json-keys.ts';
export { isDeeperThan, jsonProblem, MAX_JSON_DEPTH } from './json-limits.ts';
export { findInexactNumber } from './json-numbers.ts';
export { duplicateKey, jsonParts } from './json-places.ts';
export {
  JsonStream,
  type StreamProblem,
  type StreamRecord,
  type StreamValue,
} from './json-stream.ts';
