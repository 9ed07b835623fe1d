import { v } from '@agentci/lib/values';
import { noAnswer } from '../answer.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { parsedAnswer } from '../parsed-answer.ts';

export const check = defineCheck({
  layer: 'correctness',
  key: 'is_json',
  severity: 'fail',
  order: 55,
  summary: 'The whole answer must be JSON, of any kind.',
  wants: () => 'The answer is JSON',
  failure: {
    why: 'the answer is not one JSON document',
    help: 'look for text or a code fence around it',
  },
  example: true,
  schema: v.literal(true),
  evaluate: (_, { trace }) => {
    const parsed = parsedAnswer(trace);
    if (parsed.kind === 'none')
      return unmeasured(`${noAnswer(trace)}; JSON expected`, { limit: true });
    const isJson = parsed.kind === 'json';
    const rest = { value: isJson, limit: true, details: { is_json: { valid: isJson } } };
    return isJson
      ? held('the answer is JSON', rest)
      : violated(`the answer is not JSON: ${parsed.why}`, rest);
  },
});
