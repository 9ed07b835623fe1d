export { noAnswer } from './answer.ts';
export { compileOnce, schemaIssues } from './answer-schema.ts';
export { isMatcher } from './argument-matcher.ts';
export { asksIn, blocksIn, type RootedAsk } from './asks.ts';
export { atLeast } from './bounds.ts';
export {
  type AnyCheck,
  type AnySetting,
  type CheckContext,
  type CheckOutcome,
  held,
  isCheck,
  isOfLayer,
  type Severity,
  skipped,
  unmeasured,
  violated,
} from './check.ts';
export type { SimilarityParams } from './correctness/similarity.ts';
export { costDetails } from './cost-details.ts';
export { evaluateLayer } from './evaluate-layer.ts';
export { type CodeItem, codeName } from './every/code.ts';
export { CHECKS } from './index.gen.ts';
export { emptyListIssue } from './issues.ts';
export { jsonContains } from './json-compare.ts';
export { JUDGED, RUBRIC_KEYS, type RubricKey, rubricWanted } from './judged.ts';
export { patternIssues } from './pattern-issues.ts';
export { knownCalls, outputOf } from './run-facts.ts';
export { severityOf } from './severity.ts';
export { clip, listed, plural, shortJson } from './words.ts';
