import { isObject, valueIn } from '@agentci/lib/data';
import {
  type Block,
  type Carried,
  type ConvertedCase,
  carry,
  correctness,
  type Place,
  refuse,
} from '../../model.ts';
import { placeOf } from '../../places.ts';
import type { SourceOptions, SuiteSource } from '../../source.ts';
import {
  agreesWith,
  at,
  type CallMode,
  expectedCalls,
  type Fields,
  fieldsOf,
  listOf,
  questionOf,
  shownText,
  textOf,
  type WantedCall,
} from '../../values.ts';

/**
 * Examples of a LangSmith dataset, and references of agentevals: messages with tool calls.
 * Evaluators are code.
 */
export const source: SuiteSource = {
  name: 'langsmith',
  summary: 'examples of a LangSmith dataset (JSON, JSONL, CSV) and references of agentevals',
  recognizes: (file) => {
    if (!['.json', '.jsonl', '.csv'].includes(file.extension)) return false;
    const list = examplesIn(file.value);
    return list.length > 0 && list.slice(0, 20).every((one) => isObject(one) && isExample(one));
  },
  read: (file, options) => ({
    agent: file.base.replace(/\.\w+$/, ''),
    cases: examplesIn(file.value).map((one, i) =>
      exampleCase(fieldsOf(one), placeOf(one, { file: file.name, line: 1 }), i, options),
    ),
    settings: [],
  }),
};

const examplesIn = (value: unknown): readonly unknown[] =>
  isObject(value) ? listOf(value.examples) : listOf(value);
const isExample = (one: Fields): boolean =>
  (isObject(one.inputs) && ('outputs' in one || 'reference_outputs' in one)) ||
  'reference_outputs' in one ||
  (Object.keys(one).some((key) => /^(?:input|inputs|outputs?|reference_outputs)[._]/.test(key)) &&
    Object.keys(one).some((key) => /^outputs?[._]/.test(key)));

/** A CSV row names its fields `input_question`, `outputs.answer`. */
function unflattened(row: Fields): Fields {
  if (isObject(row.inputs) || 'reference_outputs' in row) return row;
  const groups: Record<string, Record<string, unknown>> = { inputs: {}, outputs: {} };
  for (const [key, value] of Object.entries(row)) {
    const found = /^(input|output)s?[._](.+)$/.exec(key);
    if (found !== null) groups[`${found[1]}s`]![found[2]!] = value;
  }
  return { ...row, ...groups };
}

/** In agentevals the names are reversed: its `superset` means "all of these, others allowed". */
const MODES: Readonly<Record<string, { readonly mode: CallMode; readonly close?: string }>> = {
  strict: { mode: 'exact' },
  unordered: { mode: 'unordered' },
  superset: { mode: 'any_order' },
  subset: { mode: 'only', close: 'how often a call is made does not count here' },
};

const PARALLEL = 'calls of one message may come in any order there, and their order counts here';

function exampleCase(
  written: Fields,
  place: Place,
  index: number,
  { map }: SourceOptions,
): ConvertedCase {
  const example = unflattened(written);
  const outputs = example.reference_outputs ?? example.outputs;
  const messages = messagesIn(outputs);
  const asked =
    questionOf(example.inputs ?? example.input, { whole: example, map: map.input }) ??
    (messages === undefined ? undefined : firstUser(messages));
  const metadata = fieldsOf(example.metadata);
  const split = [example.split ?? metadata.dataset_split]
    .flat()
    .flatMap((one) => textOf(one) ?? []);
  return {
    place,
    name: textOf(example.name) ?? textOf(example.id) ?? `example-${index + 1}`,
    query: asked ?? '(no input)',
    tags: split.length !== 0 ? split : undefined,
    metadata: Object.keys(metadata).length !== 0 ? (metadata as Block) : undefined,
    carried:
      outputs === undefined || outputs === null ? [] : [reference(outputs, messages, place, map)],
    skip:
      asked === undefined
        ? 'the field with the question is unknown: --map input=inputs.FIELD'
        : undefined,
  };
}

function messagesIn(outputs: unknown): readonly Fields[] | undefined {
  const list = Array.isArray(outputs) ? outputs : fieldsOf(outputs).messages;
  if (
    !Array.isArray(list) ||
    !list.every((one) => isObject(one) && ('role' in one || 'type' in one))
  )
    return undefined;
  return list as readonly Fields[];
}

const firstUser = (messages: readonly Fields[]): string | undefined => {
  const found = messages.find(({ role, type }) => ['user', 'human'].includes(String(role ?? type)));
  return found === undefined ? undefined : shownText(found.content);
};

function reference(
  outputs: unknown,
  messages: readonly Fields[] | undefined,
  place: Place,
  map: Readonly<Record<string, string>>,
): Carried {
  if (messages !== undefined) {
    const name = map.mode ?? 'strict';
    const chosen = valueIn(MODES, name);
    if (chosen === undefined)
      return refuse(
        place,
        'trajectory',
        `the mode "${name}" is not strict, unordered, subset or superset`,
      );
    const calls = messages.flatMap(callsOf);
    if (calls.includes(undefined))
      return refuse(place, 'trajectory', 'the arguments of a call are not JSON');
    const parts = expectedCalls(chosen.mode, 'exact', calls as readonly WantedCall[]);
    if (parts.length === 0)
      return refuse(place, 'trajectory', 'the reference has no calls, so that nothing can fail');
    const isParallel = messages.some((message) => callsOf(message).length > 1);
    const close = chosen.close ?? (name === 'strict' && isParallel ? PARALLEL : undefined);
    return carry(
      place,
      `trajectory ${name}`,
      close === undefined ? 'exact' : 'close',
      parts,
      close,
    );
  }
  const text =
    map.output === undefined ? answerOf(outputs) : shownText(at({ outputs }, map.output));
  if (text === undefined) return refuse(place, 'outputs', 'the reference is empty');
  return carry(
    place,
    'outputs',
    'close',
    [correctness(agreesWith(text))],
    'the evaluator is code, but here a judge compares',
  );
}

const answerOf = (outputs: unknown): string | undefined =>
  isObject(outputs) ? questionOf(outputs, {}) : shownText(outputs);

function callsOf(message: Fields): readonly (WantedCall | undefined)[] {
  return listOf(message.tool_calls).map((one) => {
    const call = fieldsOf(one);
    const inner = isObject(call.function) ? call.function : call;
    const written = inner.arguments ?? inner.args ?? {};
    if (typeof written !== 'string') return { tool: String(inner.name), args: fieldsOf(written) };
    try {
      const args: unknown = JSON.parse(written);
      return isObject(args) ? { tool: String(inner.name), args } : undefined;
    } catch {
      return undefined;
    }
  });
}
