import { v } from '@agentci/lib/values';
import { noAnswer } from '../answer.ts';
import { compileOnce, schemaIssues } from '../answer-schema.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { parsedAnswer } from '../parsed-answer.ts';
import { plural, shortJson } from '../words.ts';

export const check = defineCheck({
  layer: 'correctness',
  key: 'json_schema',
  severity: 'fail',
  order: 60,
  summary: 'The answer must be JSON that conforms to this JSON Schema.',
  wants: (schema) => `The answer is JSON that conforms to the schema ${shortJson(schema)}`,
  failure: {
    why: 'the JSON does not have the shape',
    help: 'the message names the path in the answer and the keyword',
  },
  example: {
    type: 'object',
    required: ['status', 'days'],
    properties: {
      status: { enum: ['approved', 'rejected'] },
      days: { type: 'integer', minimum: 0 },
    },
    additionalProperties: false,
  },
  schema: v.record(v.string(), v.unknown()),
  inspect: (schema) => schemaIssues('json_schema', schema),
  evaluate: (schema, { trace }) => {
    const compiled = compileOnce(schema);
    if (!compiled.ok)
      return unmeasured(`json_schema: ${compiled.path || 'the schema'}: ${compiled.message}`);
    const parsed = parsedAnswer(trace);
    if (parsed.kind === 'none')
      return unmeasured(`${noAnswer(trace)}; JSON expected`, { limit: 0 });
    if (parsed.kind === 'broken') {
      return violated(`the answer is not JSON: ${parsed.why}`, {
        limit: 0,
        details: { json_schema: { valid: false, errors: [parsed.why] } },
      });
    }
    const verdict = compiled.validate(parsed.value);
    if (verdict.timedOut)
      return unmeasured('json_schema: the validation gave no answer within its limits', {
        limit: 0,
      });
    const errors = verdict.errors.map(
      ({ path, message }) => `${path === '' ? 'the answer' : path}: ${message}`,
    );
    const rest = {
      value: errors.length,
      limit: 0,
      details: { json_schema: { valid: verdict.valid, errors } },
    };
    if (verdict.valid)
      return held('the answer is JSON that conforms to the schema: 0 errors', rest);
    return violated(
      `the answer does not conform to the schema, ${plural(errors.length, 'error')}: ${errors.slice(0, 3).join(' · ')}`,
      rest,
    );
  },
});
