import { isObject, valueIn } from '@agentci/lib/data';
import { canFail } from '@agentci/lib/json-schema';
import { didYouMean } from '@agentci/lib/text';
import { negate } from '../../combine.ts';
import { contains } from '../../literal.ts';
import {
  type BlockValue,
  type Carried,
  type ConvertedCase,
  type ConvertedSuite,
  carry,
  correctness,
  type Finding,
  type OverallTest,
  type Part,
  type Place,
  path,
  refuse,
} from '../../model.ts';
import { placeOf, placeOfEntry } from '../../places.ts';
import { rustFit } from '../../rust-regex.ts';
import type { SuiteSource } from '../../source.ts';
import { expectedCalls, type Fields, fieldsOf, listOf, textOf } from '../../values.ts';

/**
 * The parts of a file that the source reads. A suite that is run directly keeps the paths of its
 * policies. A converted one includes them.
 */
export interface AssayFile {
  readonly name: string;
  readonly value: unknown;
  readonly policy: (path: string) => unknown;
}

/**
 * Assay's suites: tests with `expected` per prompt, and tests with `metric` over all recordings.
 */
export const source: SuiteSource = {
  name: 'assay',
  summary: "Assay's suites: tests with expected and assertions",
  recognizes: ({ extension, value }) =>
    ['.yaml', '.yml', '.json'].includes(extension) &&
    isAssaySuite(value) &&
    listOf(value.tests).some(
      (test) => isObject(test) && TEST_SIGNS.some((key) => Object.hasOwn(test, key)),
    ),
  read: (file) =>
    readAssay({
      name: file.name,
      value: file.value,
      policy: (path) => file.beside(path).value,
    }),
};

const REQUIRED = { code: 'SPEC_REQUIRED' };
const TEST_SIGNS = ['metric', 'expected', 'assertions'];

/** Whether `tests` is Assay's, because other tools use this key too. */
export function isAssaySuite(value: unknown): value is Fields {
  if (!isObject(value) || !('tests' in value)) return false;
  if (['queries', 'agent', 'prompts'].some((key) => key in value)) return false;
  return (
    'suite' in value ||
    'configVersion' in value ||
    listOf(value.tests).some(
      (test) => isObject(test) && TEST_SIGNS.some((key) => Object.hasOwn(test, key)),
    )
  );
}

const ROOT_KEYS = [
  ...['version', 'configVersion', 'suite', 'description', 'model', 'settings', 'output', 'tests'],
  'definitions',
];
/** Performance settings of Assay, which do not matter for recordings. */
const SETTINGS = ['parallel', 'timeout_seconds', 'cache', 'seed', 'bail_on_first_failure'];
const EXPECTED_KEYS = ['id', 'description', 'input', 'expected', 'assertions', 'tags', 'on_error'];
const METRIC_KEYS: Readonly<Record<OverallTest['metric'], readonly string[]>> = {
  args_valid: ['policy', 'tools', 'strict', 'tool', 'constraints'],
  sequence_valid: ['policy', 'rules', 'aliases'],
  tool_blocklist: ['policy', 'blocklist'],
  module: ['config', 'export', 'timeout_ms'],
};
const METRICS = Object.keys(METRIC_KEYS).filter((metric) => metric !== 'module');
const MODULE = /^\.{0,2}\/|\.[cm]?[jt]s$/;

/** Reads a suite. Each part that is not read becomes a finding. */
export function readAssay(file: AssayFile): ConvertedSuite {
  const root = fieldsOf(file.value);
  const place = placeOf(root, { file: file.name, line: 1 });
  const settings = fieldsOf(root.settings);
  return {
    agent: textOf(root.suite),
    cases: listOf(root.tests).map((test, i) =>
      testCase(fieldsOf(test), placeOf(test, place), file, i),
    ),
    settings: [
      ...unknownKeys(root, { known: ROOT_KEYS, what: 'an Assay suite', place }),
      ...unknownKeys(settings, { known: SETTINGS, what: '"settings"', place }),
    ].map(({ finding }) => finding),
  };
}

/** Each unknown key, with a hint. Custom keys begin with `x-`. */
function unknownKeys(
  fields: Fields,
  {
    known,
    what,
    place,
  }: { readonly known: readonly string[]; readonly what: string; readonly place: Place },
): Carried[] {
  return Object.keys(fields)
    .filter((key) => !known.includes(key) && !key.startsWith('x-'))
    .map((key) =>
      refuse(placeOfEntry(fields, key, 'key', place), key, `${what} has no key "${key}"`, {
        code: 'SPEC_UNKNOWN_KEY',
        hint: valueIn(HINTS, key) ?? nearest(key, known) ?? `its keys are ${known.join(', ')}`,
      }),
    );
}

const HINTS: Readonly<Record<string, string>> = {
  thresholding: 'scores are compared with a baseline: agentci test --baseline',
  schema_file: 'write the schema under "json_schema"',
};

const nearest = (word: string, known: readonly string[]): string | undefined => {
  const near = didYouMean(word, known);
  return near === undefined ? undefined : `did you mean "${near}"?`;
};

function testCase(test: Fields, place: Place, file: AssayFile, index: number): ConvertedCase {
  const metric = textOf(test.metric);
  const query = textOf(isObject(test.input) ? test.input.prompt : test.input);
  const tags = listOf(test.tags).map(String);
  const common = {
    place,
    name: textOf(test.id) ?? `test-${index + 1}`,
    query: query ?? '(no prompt)',
    description: textOf(test.description),
    tags: tags.length !== 0 ? tags : undefined,
  };
  if (metric !== undefined) {
    const { overall, refused } = overallTest(test, metric, place);
    const why = 'the suite judges all recordings: "agentci test -c SUITE" reads it as it is';
    return { ...common, overall, carried: refused ?? [refuse(place, metric, why)] };
  }
  const unread = unknownKeys(test, { known: EXPECTED_KEYS, what: 'a test', place });
  if (!isNone(test.assertions) && !Array.isArray(test.assertions))
    unread.push(
      refuse(
        placeOfEntry(test, 'assertions', 'value', place),
        'assertions',
        '"assertions" must be a list',
        { code: 'SPEC_VALUE' },
      ),
    );
  const policies: BlockValue[] = [];
  const given = test.expected === undefined ? [] : [test.expected];
  const expected = Array.isArray(test.expected) ? test.expected : given;
  const written = [...expected, ...listOf(test.assertions)];
  const carried =
    expected.length > 1
      ? [
          refuse(
            placeOf(test.expected, place),
            'expected',
            'Assay reads only the first of several expectations: make them separate tests',
          ),
        ]
      : written.map((one) => expectation(fieldsOf(one), placeOf(one, place), file, policies));
  return {
    ...common,
    policy: policies.length === 1 ? policies[0]! : undefined,
    carried: [...unread, ...carried],
    skip: query === undefined ? 'the test has no prompt' : undefined,
  };
}

/** A test over all recordings, or the reason why it cannot be read. */
function overallTest(
  test: Fields,
  metric: string,
  place: Place,
): { readonly overall?: OverallTest; readonly refused?: readonly Carried[] } {
  const kind = METRICS.find((each) => each === metric) as
    | Exclude<OverallTest['metric'], 'module'>
    | undefined;
  if (kind === undefined && !MODULE.test(metric)) {
    const why = `${nearest(metric, METRICS) ?? `the metrics are ${METRICS.join(', ')}`}; your own is named by the path of its module`;
    return { refused: [refuse(placeOfEntry(test, 'metric', 'value', place), metric, why)] };
  }
  const known = ['id', 'metric', 'description', 'tags', ...METRIC_KEYS[kind ?? 'module']];
  const what = `a test of ${kind ?? 'a module'}`;
  const unknown = unknownKeys(test, { known, what, place });
  if (unknown.length > 0) return { refused: unknown };
  if (kind === undefined) {
    const { config = {}, export: name = 'default', timeout_ms: timeoutMs } = test;
    return { overall: { metric: 'module', module: metric, export: name, config, timeoutMs } };
  }
  const policy = policyOfTest(test, kind);
  if (policy !== undefined)
    return { overall: { metric: kind, policy, tools: test.tools, strict: test.strict === true } };
  const needs = {
    args_valid: '"policy", or "tool" and "constraints"',
    sequence_valid: '"rules", or a "policy" with "sequences"',
    tool_blocklist: '"blocklist", or a "policy" with "blocklist"',
  }[kind];
  return { refused: [refuse(place, kind, `a test of ${kind} needs ${needs}`, REQUIRED)] };
}

/**
 * The requirement of a test over all recordings, as a policy: a named one, or one of the lists in
 * the test itself.
 */
function policyOfTest(test: Fields, metric: Exclude<OverallTest['metric'], 'module'>): unknown {
  const { rules, aliases, blocklist, tool, constraints } = test;
  if (metric === 'sequence_valid' && rules !== undefined)
    return aliases === undefined ? { sequences: rules } : { sequences: rules, aliases };
  if (metric === 'tool_blocklist' && blocklist !== undefined) return { blocklist };
  if (test.policy !== undefined) return test.policy;
  return metric === 'args_valid' && tool !== undefined && constraints !== undefined
    ? { tools: { [String(tool)]: { arguments: constraints } } }
    : undefined;
}

/** The keys of an expectation, next to `type` and the type itself. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  must_contain: [],
  must_not_contain: [],
  regex_match: ['pattern', 'flags'],
  regex_not_match: ['pattern', 'flags'],
  json_schema: [],
  semantic_similarity_to: ['text', 'min_score', 'threshold'],
  args_valid: ['policy', 'schema'],
  sequence_valid: ['policy', 'sequence', 'rules'],
  trace_tool_sequence: ['sequence', 'allow_other_tools'],
  tool_blocklist: ['blocked'],
  trace_must_not_call_tool: ['tool', 'min_calls'],
  trace_must_call_tool: ['tool', 'min_calls'],
};

const isNone = (value: unknown): boolean => value === undefined || value === null;

function expectation(one: Fields, place: Place, file: AssayFile, policies: BlockValue[]): Carried {
  const type =
    textOf(one.type) ??
    ['must_contain', 'must_not_contain', 'sequence', 'schema', '$ref'].find((key) => key in one) ??
    'expectation';
  const none = (why: string, problem?: Finding['problem']): Carried =>
    refuse(place, type, why, problem);
  const empty = (): Carried =>
    none(`"${type}" expects nothing, so that nothing can fail`, REQUIRED);
  const exact = (parts: readonly Part[]): Carried =>
    parts.length === 0 ? empty() : carry(place, type, 'exact', parts);
  const [unknown] = unknownKeys(one, {
    known: ['type', type, ...(valueIn(KEYS, type) ?? Object.keys(one))],
    what: `"${type}"`,
    place,
  });
  if (unknown !== undefined) return unknown;
  const context: Expectation = { one, place, type, none, exact };
  return (
    expectedOfAnswer(context) ??
    expectedOfCalls(context, file, policies) ??
    none('it has no counterpart in a query: see the pages on policies')
  );
}

interface Expectation {
  readonly one: Fields;
  readonly place: Place;
  readonly type: string;
  readonly none: (why: string, problem?: Finding['problem']) => Carried;
  readonly exact: (parts: readonly Part[]) => Carried;
}

function textsIn(value: unknown): readonly string[] {
  const given = isNone(value) ? [] : [value];
  const list = Array.isArray(value) ? value : given;
  return list.map(String).filter((text) => text !== '');
}

function expectedOfAnswer(context: Expectation): Carried | undefined {
  const { one, place, type, none, exact } = context;
  switch (type) {
    case 'must_contain':
      return exact(
        textsIn(one.must_contain).map((text) => correctness({ regex_match: contains(text) })),
      );
    case 'must_not_contain':
      return exact(
        textsIn(one.must_not_contain).map(
          (text) => negate([correctness({ regex_match: contains(text) })])!,
        ),
      );
    case 'regex_match':
    case 'regex_not_match':
      return expectedPattern(context);
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
        ? none('it has no text', REQUIRED)
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
        ? none(
            'it has no text for a judge: write correctness: {hallucination_check: {rule: …}} or llm_judge in a spec of queries',
          )
        : carry(
            place,
            type,
            'close',
            [correctness({ llm_judge: [{ rule }] })],
            'another judge with another prompt decides',
          );
    }
    default:
      return undefined;
  }
}

function expectedPattern({ one, place, type, none }: Expectation): Carried {
  const pattern = textOf(one.pattern);
  if (pattern === undefined) return none('it has no pattern', REQUIRED);
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

function expectedOfCalls(
  { one, place, type, none, exact }: Expectation,
  file: AssayFile,
  policies: BlockValue[],
): Carried | undefined {
  switch (type) {
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
        textsIn(one.blocked).length === 0 ? [] : [path({ forbidden_tools: textsIn(one.blocked) })],
      );
    case 'trace_must_not_call_tool':
      return exact(
        textsIn(one.tool).length === 0 ? [] : [path({ forbidden_tools: textsIn(one.tool) })],
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
      return undefined;
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

/** Includes a policy in the spec, because the file may be elsewhere. */
function policyOf(
  policy: unknown,
  place: Place,
  type: string,
  file: AssayFile,
  policies: BlockValue[],
): Carried {
  const value = typeof policy === 'string' ? file.policy(policy) : policy;
  const isPath = typeof value === 'string' && value === policy;
  if (value === undefined) return refuse(place, type, `"${type}" needs "policy"`, REQUIRED);
  if (!isObject(value) && !isPath) return refuse(place, type, 'its policy is not a map');
  if (policies.length > 0)
    return refuse(place, type, 'a query can have one policy: make it two tests');
  policies.push(value as BlockValue);
  return {
    finding: { ...place, type, verdict: 'exact', target: 'policy' },
    parts: [],
    isPolicy: true,
  };
}
