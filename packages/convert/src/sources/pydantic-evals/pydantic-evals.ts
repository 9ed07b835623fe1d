import { isObject } from '@agentci/lib/data';
import type { Block, Carried, ConvertedCase, Place } from '../../model.ts';
import { placed, placeOf } from '../../places.ts';
import type { SuiteSource } from '../../source.ts';
import { type Fields, fieldsOf, listOf, questionOf, textOf } from '../../values.ts';
import { readEvaluator } from './evaluators.ts';

/** Datasets of pydantic_evals. */
export const source: SuiteSource = {
  name: 'pydantic-evals',
  summary: 'datasets of pydantic_evals in YAML and JSON',
  recognizes: (file) =>
    ['.yaml', '.yml', '.json'].includes(file.extension) &&
    isObject(file.value) &&
    Array.isArray(file.value.cases) &&
    file.value.cases.length > 0 &&
    file.value.cases.every((one) => isObject(one) && 'inputs' in one),
  read: (file, { map }) => {
    const root = file.value as Fields;
    const place: Place = { file: file.name, line: 1 };
    const cases = listOf(root.cases).map((one, i): ConvertedCase => {
      const own = fieldsOf(one);
      const at = placeOf(one, place);
      const query = questionOf(own.inputs, { whole: own, map: map.input });
      const metadata = fieldsOf(own.metadata);
      const evaluators = [...listOf(root.evaluators), ...listOf(own.evaluators)];
      return {
        place: at,
        name: textOf(own.name) ?? `case-${i + 1}`,
        query: query ?? '(no inputs)',
        vars: isObject(own.inputs) ? scalars(own.inputs) : undefined,
        metadata: Object.keys(metadata).length !== 0 ? (metadata as Block) : undefined,
        expectedOutput: typeof own.expected_output === 'string' ? own.expected_output : undefined,
        carried: evaluators.flatMap((written, n): readonly Carried[] =>
          readEvaluator(
            written,
            own,
            placeOf(
              written,
              placeOf(n < listOf(root.evaluators).length ? root.evaluators : own.evaluators, at),
            ),
            originOf(root, n, written),
          ),
        ),
        skip:
          query === undefined
            ? 'the field with the question is unknown: --map input=inputs.FIELD'
            : undefined,
      };
    });
    const agent = textOf(root.name);
    return { agent, cases, settings: [] };
  },
};

const scalars = (fields: Fields): Block =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as Block;

const origins = new WeakMap<object, Map<number, object>>();

/**
 * The same object in every case for an evaluator of the whole dataset, even if it is written as a
 * bare name.
 */
function originOf(root: Fields, index: number, written: unknown): object | undefined {
  const list = listOf(root.evaluators);
  if (index >= list.length) return isObject(written) ? written : undefined;
  if (isObject(written)) return written;
  const known = origins.get(root) ?? new Map<number, object>();
  origins.set(root, known);
  const origin = known.get(index) ?? placed({}, { file: '', line: 1 });
  known.set(index, origin);
  return origin;
}
