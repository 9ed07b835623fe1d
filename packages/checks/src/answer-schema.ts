import {
  canFail,
  compileJsonSchema,
  type JsonSchemaResult,
  type UnknownWord,
  unknownWords,
} from '@agentci/lib/json-schema';
import type { Problem } from '@agentci/lib/problems';

type SchemaMap = Record<string, unknown>;

/** Problems of a JSON Schema for answers. */
export function schemaIssues(key: string, schema: SchemaMap): Problem[] {
  const compiled = compileOnce(schema);
  if (!compiled.ok) {
    const path = compiled.path
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const message = `${key} is not a valid JSON Schema at ${compiled.path || 'its root'}: ${compiled.message}`;
    return [
      {
        severity: 'error',
        code: 'SPEC_BAD_SCHEMA',
        message,
        path: path.map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
      },
    ];
  }
  const words = unknownWords(schema).map((word) => wordIssue(key, word));
  if (canFail(schema)) return words;
  return [
    ...words,
    {
      severity: 'error',
      code: 'SPEC_CANNOT_FAIL',
      message: `${key} accepts every JSON value: it only says that there is JSON`,
      hint: 'write is_json: true or contains_json: true for that, or say at least which type the answer has',
    },
  ];
}

/**
 * A keyword close to a known one is a typo that disables the check. Any other unknown keyword may
 * be for another program.
 */
function wordIssue(key: string, { kind, word, path, near }: UnknownWord): Problem {
  const rest = { path, part: kind === 'keyword' ? 'key' : 'value' } as const;
  const message = `${key}: ${kind === 'keyword' ? `"${word}" is not a keyword of JSON Schema` : `the format "${word}" is not known`}, so it checks nothing`;
  return near === undefined
    ? { severity: 'warning', code: 'SPEC_CANNOT_FAIL', message, ...rest }
    : {
        severity: 'error',
        code: 'SPEC_BAD_SCHEMA',
        message,
        hint: `did you mean "${near}"?`,
        ...rest,
      };
}

const compiledSchemas = new WeakMap<SchemaMap, JsonSchemaResult>();
/** Generated specs repeat a schema in every query, and a compiled schema takes kilobytes. */
const compiledTexts = new Map<string, JsonSchemaResult>();
const MAX_KEPT = 100;

/** Compiles a schema, or returns an equal one compiled before. */
export function compileOnce(schema: SchemaMap): JsonSchemaResult {
  let compiled = compiledSchemas.get(schema);
  if (compiled === undefined) {
    const text = JSON.stringify(schema);
    compiled = compiledTexts.get(text) ?? compileJsonSchema(schema);
    if (compiledTexts.size < MAX_KEPT) compiledTexts.set(text, compiled);
    compiledSchemas.set(schema, compiled);
  }
  return compiled;
}
