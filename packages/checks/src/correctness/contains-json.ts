import { jsonIn } from '@agentci/lib/json';
import { v } from '@agentci/lib/values';
import { finalText } from '@agentci/trace';
import { noAnswer } from '../answer.ts';
import { compileOnce, schemaIssues } from '../answer-schema.ts';
import { defineCheck, held, unmeasured, violated } from '../check.ts';
import { plural, shortJson } from '../words.ts';

export const check = defineCheck({
  layer: 'correctness',
  key: 'contains_json',
  severity: 'fail',
  order: 56,
  summary:
    'Some JSON object or list must be in the answer, and conform to `schema` if you give one.',
  wants: (params) =>
    params === true
      ? 'The answer contains JSON'
      : `The answer contains JSON that conforms to the schema ${shortJson(params.schema)}`,
  failure: {
    why: 'no JSON object or list is in the answer, or none conforms',
    help: 'the message has the first difference. Look for JSON that is cut off',
  },
  example: { schema: { type: 'object', required: ['id', 'total'] } },
  schema: v.union([v.literal(true), v.strictObject({ schema: v.record(v.string(), v.unknown()) })]),
  inspect: (params) =>
    params === true
      ? []
      : schemaIssues('contains_json.schema', params.schema).map((issue) => ({
          ...issue,
          path: ['schema', ...(issue.path ?? [])],
        })),
  evaluate: (params, { trace }) => {
    const answer =
      finalText(trace) ??
      (trace.final?.data === undefined ? undefined : JSON.stringify(trace.final.data));
    if (answer === undefined)
      return unmeasured(`${noAnswer(trace)}; JSON expected in it`, { limit: 1 });
    const { values, isWhole } = jsonIn(answer);
    const fits = params === true ? undefined : compileOnce(params.schema);
    if (fits?.ok === false)
      return unmeasured(`contains_json: ${fits.path || 'the schema'}: ${fits.message}`, {
        limit: 1,
      });
    const verdicts = fits === undefined ? [] : values.map((value) => fits.validate(value));
    const value = fits === undefined ? values.length : verdicts.filter(({ valid }) => valid).length;
    const found = plural(values.length, 'JSON object or list', 'JSON objects and lists');
    const rest = {
      value,
      limit: 1,
      details: { contains_json: { found: values.length, valid: value } },
    };
    if (value > 0)
      return held(
        `${found} in the answer${fits === undefined ? '' : `, ${value} of them conform to the schema`}`,
        rest,
      );
    if (!isWhole || verdicts.some(({ timedOut }) => timedOut))
      return unmeasured('contains_json: the answer could not be searched within the limits', {
        limit: 1,
      });
    const [first] = verdicts.flatMap(({ errors }) => errors);
    const why =
      first === undefined
        ? ''
        : `: ${first.path === '' ? 'the value' : first.path}: ${first.message}`;
    return violated(
      values.length === 0
        ? 'no JSON object or list in the answer'
        : `${found} in the answer, none conforms to the schema${why}`,
      rest,
    );
  },
});
