import { canFail, compileJsonSchema, type JsonSchemaResult } from '../../kit/json-schema.ts';
import { type UnknownWord, unknownWords } from '../../kit/json-schema-words.ts';
import type { Problem } from '../../kit/problem.ts';
import { v } from '../../kit/value-schema.ts';
import { noAnswer } from '../answer.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { parsedAnswer } from '../parsed-answer.ts';
import { plural } from '../words.ts';

type SchemaMap = Record<string, unknown>;

export const check = defineCheck({
  layer: 'correctness',
  key: 'json_schema',
  severity: 'fail',
  order: 60,
  summary: 'The answer must be JSON that conforms to this JSON Schema.',
  schema: v.record(v.string(), v.unknown()),
  inspect: inspectSchema,
  evaluate: (schema, { trace }) => {
    const compiled = compileOnce(schema);
    if (!compiled.ok) return unmeasured(`json_schema: ${compiled.path || 'the schema'}: ${compiled.message}`);
    const parsed = parsedAnswer(trace);
    if (parsed.kind === 'none') return unmeasured(`${noAnswer(trace)}; JSON expected`, { limit: 0 });
    if (parsed.kind === 'broken') {
      return violated(`the answer is not JSON: ${parsed.why}`, {
        limit: 0,
        details: { json_schema: { valid: false, errors: [parsed.why] } },
      });
    }
    const verdict = compiled.validate(parsed.value);
    if (verdict.timedOut)
      return unmeasured('json_schema: the validation gave no answer within its limits', { limit: 0 });
    const errors = verdict.errors.map(({ path, message }) => `${path === '' ? 'the answer' : path}: ${message}`);
    const rest = { value: errors.length, limit: 0, details: { json_schema: { valid: verdict.valid, errors } } };
    if (verdict.valid) return held('the answer is JSON that conforms to the schema: 0 errors', rest);
    return violated(
      `the answer does not conform to the schema, ${plural(errors.length, 'error')}: ${errors.slice(0, 3).join(' · ')}`,
      rest,
    );
  },
});

function inspectSchema(schema: SchemaMap): Problem[] {
  const compiled = compileOnce(schema);
  if (!compiled.ok) {
    const path = compiled.path
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const message = `json_schema is not a valid JSON Schema at ${compiled.path || 'its root'}: ${compiled.message}`;
    return [
      {
        severity: 'error',
        code: 'SPEC_BAD_SCHEMA',
        message,
        path: path.map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
      },
    ];
  }
  const words = unknownWords(schema).map(wordIssue);
  if (canFail(schema)) return words;
  return [
    ...words,
    {
      severity: 'error',
      code: 'SPEC_CANNOT_FAIL',
      message: 'json_schema accepts every JSON value: it only says that the answer is JSON',
      hint: 'write is_json: true for that, or say at least which type the answer has',
    },
  ];
}

/** A word close to a known one is a slip, and a check that vanished; any other may be meant for another program. */
function wordIssue({ kind, word, path, near }: UnknownWord): Problem {
  const rest = { path, part: kind === 'keyword' ? 'key' : 'value' } as const;
  const message = `json_schema: ${kind === 'keyword' ? `"${word}" is not a keyword of JSON Schema` : `the format "${word}" is not known`}, so it checks nothing`;
  return near === undefined
    ? { severity: 'warning', code: 'SPEC_CANNOT_FAIL', message, ...rest }
    : { severity: 'error', code: 'SPEC_BAD_SCHEMA', message, hint: `did you mean "${near}"?`, ...rest };
}

const compiledSchemas = new WeakMap<SchemaMap, JsonSchemaResult>();

function compileOnce(schema: SchemaMap): JsonSchemaResult {
  let compiled = compiledSchemas.get(schema);
  if (compiled === undefined) {
    compiled = compileJsonSchema(schema);
    compiledSchemas.set(schema, compiled);
  }
  return compiled;
}
