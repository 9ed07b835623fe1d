import { isObject } from '@agentci/lib/data';
import {
  type Block,
  type Carried,
  type ConvertedCase,
  carry,
  type Place,
  path,
} from '../../model.ts';
import { placeOf } from '../../places.ts';
import type { SuiteSource } from '../../source.ts';
import { type Fields, fieldsOf, judgedOutput, listOf, textOf } from '../../values.ts';

/** Datasets of AgentUnit in JSON and CSV. Scenarios and metrics are Python code. */
export const source: SuiteSource = {
  name: 'agentunit',
  summary: 'datasets of AgentUnit in JSON and CSV',
  recognizes: (file) => {
    if (!['.json', '.csv'].includes(file.extension)) return false;
    const list = itemsIn(file.value);
    return (
      list.length > 0 &&
      list
        .slice(0, 20)
        .every((one) => isObject(one) && typeof one.query === 'string' && 'expected_output' in one)
    );
  },
  read: (file) => ({
    agent: file.base.replace(/\.\w+$/, ''),
    cases: itemsIn(file.value).map((one, i) =>
      caseOf(
        fieldsOf(one),
        placeOf(one, { file: file.name, line: 1 }),
        i,
        file.extension === '.csv',
      ),
    ),
    settings: [],
  }),
};

const itemsIn = (value: unknown): readonly unknown[] =>
  isObject(value) ? listOf(value.items) : listOf(value);
const OWN = new Set(['id', 'query', 'expected_output', 'tools', 'context', 'metadata']);

function caseOf(row: Fields, place: Place, index: number, isCsv: boolean): ConvertedCase {
  const list = (value: unknown, delimiter: string): readonly string[] =>
    (typeof value === 'string' ? value.split(delimiter) : listOf(value)).flatMap(
      (one) => textOf(one)?.trim() ?? [],
    );
  const reference = textOf(row.expected_output);
  const tools = list(row.tools, ';');
  const context = list(row.context, '||');
  const metadata = isCsv
    ? Object.fromEntries(
        Object.entries(row).filter(([key, value]) => !OWN.has(key) && value !== ''),
      )
    : fieldsOf(row.metadata);
  const carried: Carried[] = [];
  if (reference !== undefined) carried.push(judgedOutput(place, reference));
  if (tools.length > 0)
    carried.push(
      carry(
        place,
        'tools',
        'close',
        [path({ expected_tools: tools })],
        'the metric is in Python code, but here each must be called',
      ),
    );
  const query = textOf(row.query);
  return {
    place,
    name: textOf(row.id) ?? `case-${index}`,
    query: query ?? '(no query)',
    expectedOutput: reference,
    context: context.length !== 0 ? context : undefined,
    metadata: Object.keys(metadata).length !== 0 ? (metadata as Block) : undefined,
    carried,
    skip: query === undefined ? 'the case has no query' : undefined,
  };
}
