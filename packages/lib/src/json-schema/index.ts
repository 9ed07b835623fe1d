export { compileJsonSchema, type JsonSchemaResult } from './json-schema.ts';
export { canFail } from './json-schema-effect.ts';
export { SCHEMA_KEYWORDS, SCHEMA_LIST_KEYWORDS, SCHEMA_MAP_KEYWORDS } from './json-schema-shape.ts';
export { KEYWORDS, NOTES, type UnknownWord, unknownWords } from './json-schema-words.ts';
