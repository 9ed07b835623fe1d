export {
  accepts,
  bestBranch,
  leafIssues,
  type ValueIssue,
  type ValuePath,
  valueIssues,
} from './value-issues.ts';
export { jsonSchemaOf } from './value-json-schema.ts';
export {
  type Infer,
  ObjectSchema,
  type ValueDef,
  ValueSchema,
  type ValueShape,
  v,
} from './value-schema.ts';
export {
  choicesOf,
  describeDefs,
  issueMessage,
  joinOr,
  keysOf,
  pathText,
  schemasAt,
  showValue,
} from './value-words.ts';
