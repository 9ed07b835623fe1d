import { defined, isObject } from '@agentci/lib/data';
import {
  type Block,
  type BlockValue,
  type Carried,
  type ConvertedCase,
  carry,
  correctness,
  type Place,
  refuse,
} from '../../model.ts';
import { placeOf } from '../../places.ts';
import type { SuiteSource } from '../../source.ts';
import {
  expectedCalls,
  type Fields,
  field,
  fieldsOf,
  judgedOutput,
  listOf,
  textOf,
  type WantedCall,
} from '../../values.ts';

/**
 * Goldens and conversational goldens of DeepEval. Its metrics are Python code, so only expectations
 * are read.
 */
export const source: SuiteSource = {
  name: 'deepeval',
  summary: 'goldens and conversational goldens of DeepEval in JSON, JSONL and CSV',
  recognizes: (file) => {
    if (!['.json', '.jsonl', '.csv'].includes(file.extension)) return false;
    const list = goldensIn(file.value);
    const first = list.slice(0, 20);
    return (
      first.every((one) => isObject(one) && mayBeGolden(one)) &&
      first.some((one) => isGolden(fieldsOf(one)))
    );
  },
  read: (file) => ({
    agent: file.base.replace(/\.\w+$/, ''),
    cases: goldensIn(file.value).map((one, i) =>
      goldenCase(fieldsOf(one), placeOf(one, { file: file.name, line: 1 }), i),
    ),
    settings: [],
  }),
};

const LISTS = [
  'goldens',
  'conversationalGoldens',
  'conversational_goldens',
  'test_cases',
  'testCases',
];
const goldensIn = (value: unknown): readonly unknown[] =>
  isObject(value) ? listOf(field(value, ...LISTS)) : listOf(value);

const OWN = [
  'expected_output',
  'expectedOutput',
  'expected_tools',
  'expectedTools',
  'retrieval_context',
  'retrievalContext',
  'actual_output',
  'actualOutput',
  'expected_outcome',
  'expectedOutcome',
  'tools_called',
  'toolsCalled',
  'source_file',
  'additional_metadata',
  'additionalMetadata',
  'context',
];
const isGolden = (one: Fields): boolean =>
  (typeof one.input === 'string' && OWN.some((name) => name in one)) ||
  (typeof one.scenario === 'string' &&
    ('expected_outcome' in one || 'expectedOutcome' in one || 'turns' in one));

/** Items of a list may have only an input. */
const mayBeGolden = (one: Fields): boolean =>
  isGolden(one) || (typeof one.input === 'string' && !('target' in one) && !('ideal' in one));

/** A CSV cell holds lists as JSON, or as text separated by bars. */
function texts(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((one) => textOf(one) ?? []);
  const text = textOf(value);
  if (text === undefined) return [];
  const parsed = parsedCell(text);
  return Array.isArray(parsed)
    ? parsed.flatMap((one) => textOf(one) ?? [])
    : text.split('|').flatMap((one) => textOf(one.trim()) ?? []);
}

function parsedCell(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

function toolsOf(value: unknown): readonly WantedCall[] | undefined {
  const list = parsedCell(value);
  if (typeof list === 'string') return texts(list).map((tool) => ({ tool }));
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((one) => {
    if (typeof one === 'string') return [{ tool: one }];
    const { name } = fieldsOf(one);
    if (typeof name !== 'string') return [];
    const args = field(fieldsOf(one), 'input_parameters', 'inputParameters');
    return [{ tool: name, args: isObject(args) ? args : undefined }];
  });
}

function goldenCase(golden: Fields, place: Place, index: number): ConvertedCase {
  const name = textOf(golden.name) ?? `golden-${index + 1}`;
  const metadata = fieldsOf(parsedCell(field(golden, 'additional_metadata', 'additionalMetadata')));
  const base = {
    place,
    name,
    metadata: Object.keys(metadata).length !== 0 ? (metadata as Block) : undefined,
  };
  if (typeof golden.scenario === 'string') return { ...base, ...conversationOf(golden, place) };
  const carried: Carried[] = [];
  const reference = textOf(field(golden, 'expected_output', 'expectedOutput'));
  const tools = toolsOf(field(golden, 'expected_tools', 'expectedTools'));
  if (reference !== undefined) carried.push(judgedOutput(place, reference));
  if (tools !== undefined) {
    const hasArgs = tools.some(({ args }) => args !== undefined);
    carried.push(
      tools.length === 0
        ? refuse(
            place,
            'expected_tools',
            'the list is empty, and the golden does not say that no tool may be called',
          )
        : carry(
            place,
            'expected_tools',
            'close',
            expectedCalls('any_order', hasArgs ? 'exact' : 'ignore', tools),
            'the metric in Python code defines the comparison, but here each must be called, in any order',
          ),
    );
  }
  const context = [
    ...texts(golden.context),
    ...texts(field(golden, 'retrieval_context', 'retrievalContext')),
  ];
  const query = textOf(golden.input);
  const recording = recordingOf(golden);
  return {
    ...base,
    query: query ?? '(no input)',
    expectedOutput: reference,
    context: context.length !== 0 ? context : undefined,
    carried,
    skip: query === undefined ? 'the golden has no input' : undefined,
    recording,
  };
}

/** A golden that was run already includes its answer and the called tools. */
function recordingOf(golden: Fields): Block | undefined {
  const answer = textOf(field(golden, 'actual_output', 'actualOutput'));
  if (answer === undefined) return undefined;
  const called = toolsOf(field(golden, 'tools_called', 'toolsCalled'));
  return defined({
    answer,
    tool_calls: called?.map(({ tool, args }) => ({ name: tool, args: (args ?? {}) as Block })),
  });
}

function conversationOf(
  golden: Fields,
  place: Place,
): Pick<ConvertedCase, 'query' | 'carried' | 'conversation' | 'skip'> {
  const scenario = golden.scenario as string;
  const turns = listOf(parsedCell(golden.turns))
    .map(fieldsOf)
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => textOf(content) ?? []);
  const outcome = textOf(field(golden, 'expected_outcome', 'expectedOutcome'));
  const persona = textOf(field(golden, 'user_description', 'userDescription'));
  const [start, ...rest] = turns;
  const user: Record<string, BlockValue> =
    rest.length > 0 ? { script: rest } : defined({ goal: scenario, persona });
  const carried =
    outcome === undefined
      ? []
      : [
          carry(
            place,
            'expected_outcome',
            'close',
            [
              correctness({
                llm_judge: [{ rule: `The conversation came to this outcome: ${outcome}` }],
              }),
            ],
            'the metric is in Python code, but here a judge decides',
          ),
        ];
  return { query: start ?? scenario, conversation: { start: start ?? scenario, user }, carried };
}
