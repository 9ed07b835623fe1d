import { canFail } from '../../../kit/json-schema.ts';
import { isObject } from '../../../kit/object.ts';
import { negate } from '../../combine.ts';
import type { SourceFile } from '../../folder.ts';
import { contains } from '../../literal.ts';
import {
  type BlockValue,
  type Carried,
  type ConvertedCase,
  carry,
  correctness,
  type Part,
  type Place,
  path,
  refuse,
} from '../../model.ts';
import { placeOf } from '../../places.ts';
import { rustFit } from '../../rust-regex.ts';
import type { SuiteSource } from '../../source.ts';
import { expectedCalls, type Fields, fieldsOf, listOf, textOf } from '../../values.ts';

/** Assay's suites with `expected` per prompt. Those with `metric:` are read by every command as they are. */
export const source: SuiteSource = {
  name: 'assay',
  summary: "Assay's suites: tests with expected and assertions",
  recognizes: (file) => {
    if (!['.yaml', '.yml', '.json'].includes(file.extension) || !isObject(file.value)) return false;
    const { value } = file;
    if ('queries' in value || 'agent' in value || 'prompts' in value || !Array.isArray(value.tests))
      return false;
    const isNamed = 'suite' in value || 'configVersion' in value;
    return value.tests.some(
      (test) =>
        isObject(test) &&
        ('expected' in test || 'metric' in test || (isNamed && 'assertions' in test)),
    );
  },
  read: (file) => {
    const root = file.value as Fields;
    const place: Place = { file: file.name, line: 1 };
    const agent = textOf(root.suite);
    return {
      agent,
      cases: listOf(root.tests).map((test, i) =>
        testCase(fieldsOf(test), placeOf(test, place), file, i),
      ),
      settings:
        fieldsOf(root.settings).thresholding === undefined
          ? []
          : [
              {
                ...placeOf(root.settings, place),
                type: 'thresholding',
                verdict: 'none',
                why: 'scores are compared with a baseline: agentci test --baseline',
              },
            ],
    };
  },
};

function testCase(test: Fields, place: Place, file: SourceFile, index: number): ConvertedCase {
  const query = textOf(isObject(test.input) ? test.input.prompt : test.input);
  const given = test.expected === undefined ? [] : [test.expected];
  const expected = Array.isArray(test.expected) ? test.expected : given;
  const written = [...expected, ...listOf(test.assertions)];
  const metric = textOf(test.metric);
  const policies: BlockValue[] = [];
  let carried: Carried[];
  if (metric === undefined)
    carried =
      expected.length > 1
        ? [
            refuse(
              place,
              'expected',
              'Assay reads only the first of several expectations: make them tests of their own',
            ),
          ]
        : written.map((one) => expectation(fieldsOf(one), placeOf(one, place), file, policies));
  else
    carried = [
      refuse(
        place,
        metric,
        'the suite judges all recordings: "agentci test -c SUITE" reads it as it is',
      ),
    ];
  const tags = listOf(test.tags).map(String);
  const description = textOf(test.description);
  return {
    place,
    name: textOf(test.id) ?? `test-${index + 1}`,
    query: query ?? '(no prompt)',
    description,
    tags: tags.length !== 0 ? tags : undefined,
    policy: policies.length === 1 ? policies[0]! : undefined,
    carried,
    skip: query === undefined && metric === undefined ? 'the test has no prompt' : undefined,
  };
}

const isNone = (value: unknown): boolean => value === undefined || value === null;

function expectation(one: Fields, place: Place, file: SourceFile, policies: BlockValue[]): Carried {
  const type =
    textOf(one.type) ??
    ['must_contain', 'must_not_contain', 'sequence', 'schema', '$ref'].find((key) => key in one) ??
    'expectation';
  const none = (why: string): Carried => refuse(place, type, why);
  const exact = (parts: readonly Part[]): Carried =>
    parts.length === 0
      ? none('nothing is expected, so that nothing can fail')
      : carry(place, type, 'exact', parts);
  const texts = (value: unknown): readonly string[] => {
    const given = isNone(value) ? [] : [value];
    const list = Array.isArray(value) ? value : given;
    return list.map(String).filter((text) => text !== '');
  };
  switch (type) {
    case 'must_contain':
      return exact(
        texts(one.must_contain).map((text) => correctness({ regex_match: contains(text) })),
      );
    case 'must_not_contain':
      return exact(
        texts(one.must_not_contain).map(
          (text) => negate([correctness({ regex_match: contains(text) })])!,
        ),
      );
    case 'regex_match':
    case 'regex_not_match': {
      const pattern = textOf(one.pattern);
      if (pattern === undefined) return none('it has no pattern');
      const flags = [
        ...new Set(
          [one.flags ?? '']
            .flat()
            .join('')
            .replace(/[^ims]/g, ''),
        ),
      ].join('');
      const fit = rustFit(pattern, flags);
      if (fit.verdict === 'none') return none(fit.why);
      const part = correctness({ regex_match: fit.pattern });
      return carry(
        place,
        type,
        fit.verdict,
        [type === 'regex_match' ? part : negate([part])!],
        fit.why,
      );
    }
    case 'json_schema': {
      const schema = parsed(one.json_schema);
      return isObject(schema)
        ? exact([
            correctness(
              !canFail(schema) ? { is_json: true } : { json_schema: schema as BlockValue },
            ),
          ])
        : none('its schema is in another file, or not a map');
    }
    case 'semantic_similarity_to': {
      const to = textOf(one.semantic_similarity_to ?? one.text);
      const min = Number(one.min_score ?? one.threshold ?? 0.8);
      return to === undefined
        ? none('it has no text')
        : carry(
            place,
            type,
            'close',
            [correctness({ similarity: { to, min } })],
            'the embedding model of your judge is asked',
          );
    }
    case 'judge_criteria':
    case 'relevance':
    case 'faithfulness': {
      const rule = textOf(one.judge_criteria ?? one.criteria ?? one.rubric);
      return rule === undefined
        ? none('it has no text for a judge')
        : carry(
            place,
            type,
            'close',
            [correctness({ llm_judge: [{ rule }] })],
            'another judge with another prompt decides',
          );
    }
    case 'sequence_valid':
    case 'sequence':
      if (Array.isArray(one.rules)) return exact([path({ rules: one.rules as BlockValue })]);
      if (Array.isArray(one.sequence))
        return exact(expectedCalls('exact', 'ignore', toolsIn(one.sequence)));
      return policyOf(one.policy, place, type, file, policies);
    case 'args_valid':
      return policyOf(one.policy ?? one.schema, place, type, file, policies);
    case 'trace_tool_sequence':
      return exact(
        expectedCalls(
          one.allow_other_tools === true ? 'in_order' : 'exact',
          'ignore',
          toolsIn(listOf(one.sequence)),
        ),
      );
    case 'tool_blocklist':
      return exact(
        texts(one.blocked).length === 0 ? [] : [path({ forbidden_tools: texts(one.blocked) })],
      );
    case 'trace_must_not_call_tool':
      return exact(
        texts(one.tool).length === 0 ? [] : [path({ forbidden_tools: texts(one.tool) })],
      );
    case 'trace_must_call_tool':
      return textOf(one.tool) === undefined
        ? none('it names no tool')
        : exact([
            path({
              rules: [{ type: 'count', tool: one.tool as string, min: Number(one.min_calls ?? 1) }],
            }),
          ]);
    case 'trace_max_steps':
      return carry(
        place,
        type,
        'close',
        [path({ max_tool_calls: Number(one.max ?? one.max_steps ?? 0) })],
        'steps are calls of tools here',
      );
    default:
      return none('it has no counterpart in a query: see the pages on policies');
  }
}

const toolsIn = (list: readonly unknown[]) =>
  list.map((tool) => ({ tool: String(isObject(tool) ? tool.tool : tool) }));

function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** A policy is put into the spec itself: the file may be elsewhere than the spec. */
function policyOf(
  policy: unknown,
  place: Place,
  type: string,
  file: SourceFile,
  policies: BlockValue[],
): Carried {
  const value = typeof policy === 'string' ? file.beside(policy).value : policy;
  if (!isObject(value)) return refuse(place, type, 'its policy is not a map');
  if (policies.length > 0)
    return refuse(place, type, 'a query can have one policy: make it two tests');
  policies.push(value as BlockValue);
  return {
    finding: { ...place, type, verdict: 'exact', target: 'policy' },
    parts: [],
    isPolicy: true,
  };
}
