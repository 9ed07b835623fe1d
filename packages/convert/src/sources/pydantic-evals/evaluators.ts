import { isObject, valueIn } from '@agentci/lib/data';
import { contains, containsFolded, equals, foldsRegularly } from '../../literal.ts';
import {
  type BlockValue,
  type Carried,
  carry,
  correctness,
  cost,
  type Place,
  path,
  refuse,
} from '../../model.ts';
import { expectedCalls, type Fields, fieldsOf, listOf, textOf } from '../../values.ts';

/** The name of an evaluator's positional argument. */
const FIRST: Readonly<Record<string, string>> = {
  Contains: 'value',
  Equals: 'value',
  IsInstance: 'type_name',
  MaxDuration: 'seconds',
  LLMJudge: 'rubric',
  ToolCorrectness: 'expected_tools',
  TrajectoryMatch: 'expected_trajectory',
  MaxToolCalls: 'max_calls',
  MaxModelRequests: 'max_requests',
};

/** The checks of an evaluator for a case. */
export function readEvaluator(
  written: unknown,
  own: Fields,
  place: Place,
  origin: object | undefined,
): readonly Carried[] {
  const [name, args] = typeof written === 'string' ? ([written, {}] as const) : named(written);
  if (name === undefined) return [refuse(place, 'evaluator', 'it has no name')];
  // It does not apply to such a case. A separate line leaves the other cases unaffected.
  if (
    name === 'EqualsExpected' &&
    (own.expected_output === undefined || own.expected_output === null)
  )
    return [refuse(place, name, 'a case has no expected_output to compare with')];
  const made = readOne(name, args, own, place);
  return [{ ...made, finding: { ...made.finding, origin: origin ?? made.finding.origin } }];
}

function named(written: unknown): readonly [string | undefined, Fields] {
  const [entry] = Object.entries(fieldsOf(written));
  if (entry === undefined) return [undefined, {}];
  const [name, value] = entry;
  if (name === 'name' && isObject(fieldsOf(written).arguments))
    return [String(value), fieldsOf(fieldsOf(written).arguments)];
  if (isObject(value)) return [name, value];
  return [
    name,
    {
      [valueIn(FIRST, name) ?? 'value']:
        Array.isArray(value) && valueIn(FIRST, name) === undefined ? value[0] : value,
    },
  ];
}

function same(value: unknown, name: string, place: Place): Carried {
  if (typeof value === 'string')
    return carry(place, name, 'exact', [correctness({ regex_match: equals(value) })]);
  if (value === undefined || value === null) return refuse(place, name, 'nothing to compare with');
  return carry(
    place,
    name,
    'close',
    [correctness({ json_schema: { const: value as BlockValue } })],
    'an object of Python is compared as JSON',
  );
}

const seconds = (value: unknown): number | undefined => {
  if (typeof value === 'number') return value;
  const found = typeof value === 'string' ? /^PT(\d+(?:\.\d+)?)S$/.exec(value) : null;
  return found === null ? undefined : Number(found[1]);
};

const names = (value: unknown): readonly { tool: string }[] =>
  listOf(value).map((tool) => ({ tool: String(tool) }));

function readContains(args: Fields, place: Place): Carried {
  const name = 'Contains';
  const text = typeof args.value === 'string' && args.value !== '' ? args.value : undefined;
  if (text === undefined)
    return refuse(place, name, 'only texts in an answer that is text are looked for');
  if (args.case_sensitive !== false)
    return carry(place, name, 'exact', [correctness({ regex_match: contains(text) })]);
  const isRegular = foldsRegularly(text);
  return carry(
    place,
    name,
    isRegular ? 'exact' : 'close',
    [correctness({ regex_match: containsFolded(text) })],
    isRegular ? undefined : 'letters of which case folding and lower-casing differ',
  );
}

function readToolCorrectness(args: Fields, place: Place): Carried {
  const name = 'ToolCorrectness';
  const parts = expectedCalls(
    args.allow_extra === true ? 'any_order' : 'unordered',
    'ignore',
    names(args.expected_tools),
  );
  if (parts.length === 0)
    return refuse(place, name, 'no tools are expected, so that nothing can fail');
  return args.include_failed === true
    ? carry(place, name, 'exact', parts)
    : carry(place, name, 'close', parts, 'calls that failed count here');
}

function readOne(name: string, args: Fields, own: Fields, place: Place): Carried {
  switch (name) {
    case 'EqualsExpected':
      return same(own.expected_output, name, place);
    case 'Equals':
      return same(args.value, name, place);
    case 'Contains':
      return readContains(args, place);
    case 'MaxDuration': {
      const limit = seconds(args.seconds);
      return limit === undefined
        ? refuse(place, name, 'its duration is not a number of seconds')
        : carry(place, name, 'exact', [cost({ max_latency_ms: limit * 1000 })]);
    }
    case 'LLMJudge': {
      const rule = textOf(args.rubric);
      if (rule === undefined) return refuse(place, name, 'it has no rubric');
      const isScore = isObject(args.score) && args.assertion === false;
      return isScore
        ? refuse(place, name, 'a score without a bound')
        : carry(
            place,
            name,
            'exact',
            [correctness({ llm_judge: [{ rule }] })],
            'the same rubric, but your judge decides',
          );
    }
    case 'ToolCorrectness':
      return readToolCorrectness(args, place);
    case 'TrajectoryMatch':
      if (args.order !== 'exact') return refuse(place, name, 'a score without a bound');
      return carry(
        place,
        name,
        args.include_failed === true ? 'exact' : 'close',
        expectedCalls('exact', 'ignore', names(args.expected_trajectory)),
        args.include_failed === true ? undefined : 'calls that failed count here',
      );
    case 'MaxToolCalls':
      return args.include_failed !== false && typeof args.max_calls === 'number'
        ? carry(place, name, 'exact', [path({ max_tool_calls: args.max_calls })])
        : refuse(place, name, 'only calls that succeeded count there');
    case 'MaxModelRequests':
      return typeof args.max_requests === 'number'
        ? carry(place, name, 'exact', [cost({ max_llm_calls: args.max_requests })])
        : refuse(place, name, 'it has no limit');
    case 'IsInstance':
      return refuse(place, name, 'a class of Python: write `json_schema`');
    case 'HasMatchingSpan':
      return refuse(place, name, 'a trace has steps, not spans: `expr` over trace.steps');
    default:
      return refuse(place, name.slice(0, 60), 'the evaluator is custom code');
  }
}
