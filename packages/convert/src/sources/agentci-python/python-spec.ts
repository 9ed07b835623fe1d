import { defined, isObject, present } from '@agentci/lib/data';
import type { SourceFile } from '../../folder.ts';
import {
  type Block,
  type BlockValue,
  type Carried,
  type ConvertedCase,
  type ConvertedSuite,
  carry,
  type Finding,
  type Layer,
  type Place,
  refuse,
} from '../../model.ts';
import { placeOf } from '../../places.ts';
import { type Fields, fieldsOf, listOf, textOf } from '../../values.ts';
import { pythonPattern } from './python-pattern.ts';

/** A spec of the Python program that our loader rejects. */
export const isPythonSpec = (root: Fields): boolean =>
  (Array.isArray(root.queries) || Array.isArray(root.scenarios)) &&
  (typeof root.runner === 'string' ||
    typeof root.adapter === 'string' ||
    'scenarios' in root ||
    'staging' in root ||
    'persona_config' in root ||
    'conversation_runner' in root);

const LAYERS: readonly Layer[] = ['correctness', 'path', 'cost'];

/**
 * Reads `agentci_spec.yaml` of the Python program. The layers are the same, the rest is translated
 * or left out.
 */
export function readPythonSpec(root: Fields, file: SourceFile): ConvertedSuite {
  const place: Place = { file: file.name, line: 1 };
  const settings: Finding[] = [];
  const runner = textOf(root.runner ?? root.adapter);
  const none = (type: string, why: string): void => {
    settings.push({ ...place, type, verdict: 'none', why });
  };
  if (runner !== undefined)
    none(
      'runner',
      `"${runner}" is called in Python: write a command around it, runner: {command: [python3, agent.py]}`,
    );
  if (root.conversation_runner !== undefined)
    none('conversation_runner', 'write a command that answers turn by turn');
  if (root.staging !== undefined)
    none('staging', 'agentci import --to-spec turns recordings into tests');
  const defaults = fieldsOf(root.defaults);
  const judge = isObject(root.judge_config) ? { judge: root.judge_config as Block } : {};
  const queries = listOf(root.queries).map((one, i) =>
    queryCase(fieldsOf(one), defaults, placeOf(one, place), i),
  );
  const scenarios = listOf(root.scenarios).map((one, i) =>
    scenarioCase(fieldsOf(one), placeOf(one, place), i),
  );
  return {
    agent: textOf(root.agent) ?? 'agent',
    ...judge,
    cases: [...queries, ...scenarios],
    settings,
  };
}

/** Each key of a layer is an assertion. */
function layerChecks(
  block: unknown,
  layer: Layer,
  defaults: Fields,
  place: Place,
): readonly Carried[] {
  const merged = { ...fieldsOf(defaults[layer]), ...fieldsOf(block) };
  return Object.entries(merged).flatMap(([key, value]): readonly Carried[] => {
    const at = placeOf(block, place);
    if (value === null || value === undefined || value === false) return [];
    if (key === 'refutes_premise')
      return [refuse(at, key, 'write a rubric: the answer refutes the premise of the question')];
    if (key === 'match_mode' && merged.expected_tools === undefined)
      return [refuse(at, key, 'it compares with a baseline: save one with "agentci save"')];
    // They belong to `expected_tools` and are written with it.
    if (NEEDS_TOOLS.has(key))
      return merged.expected_tools === undefined
        ? [refuse(at, key, 'it needs expected_tools next to it')]
        : [];
    if (layer === 'correctness' && key === 'regex_match' && typeof value === 'string') {
      const { pattern, close } = pythonPattern(value);
      const part = { layer, block: { regex_match: pattern } };
      return [carry(at, `${layer}.${key}`, close === undefined ? 'exact' : 'close', [part], close)];
    }
    const parts = {
      [key]: value as BlockValue,
      ...(key === 'expected_tools' ? beside(merged) : {}),
    };
    // In the Python program path and cost only warn, as here without a severity.
    const block1 =
      layer === 'correctness' || key === 'forbidden_tools' ? parts : { ...parts, severity: 'warn' };
    return [carry(at, `${layer}.${key}`, 'exact', [{ layer, block: block1 as Block }])];
  });
}

const NEEDS_TOOLS = new Set([
  'min_tool_recall',
  'min_tool_precision',
  'min_sequence_similarity',
  'match_mode',
]);
const beside = (merged: Fields): Fields =>
  Object.fromEntries(
    Object.entries(merged).filter(([key, value]) => NEEDS_TOOLS.has(key) && value !== null),
  );

function queryCase(query: Fields, defaults: Fields, place: Place, index: number): ConvertedCase {
  const text = textOf(query.query);
  const tags = listOf(query.tags).map(String);
  const description = textOf(query.description);
  return {
    place,
    name: text === undefined ? `query-${index + 1}` : text.slice(0, 60),
    query: text ?? '(no query)',
    description,
    tags: tags.length !== 0 ? tags : undefined,
    carried: [
      ...LAYERS.flatMap((layer) => layerChecks(query[layer], layer, defaults, place)),
      ...left(query, place),
    ],
    skip: text === undefined ? 'the query has no text' : undefined,
  };
}

function left(query: Fields, place: Place): readonly Carried[] {
  return present([
    query.retrieval === undefined
      ? undefined
      : refuse(
          placeOf(query.retrieval, place),
          'retrieval',
          'write `expr` over calls and their results',
        ),
    ...listOf(query.span_assertions).map((one) =>
      refuse(
        placeOf(one, place),
        'span_assertions',
        'a trace has steps, not spans: write `expr` over calls',
      ),
    ),
  ]);
}

function scenarioCase(scenario: Fields, place: Place, index: number): ConvertedCase {
  const turns = listOf(scenario.turns).flatMap((turn) => textOf(turn) ?? []);
  const [start, ...rest] = turns;
  const goal = textOf(scenario.goal);
  const persona = textOf(scenario.persona);
  const first = start ?? goal;
  const user: Record<string, BlockValue> =
    rest.length > 0 ? { script: rest } : defined({ goal, persona });
  const tool = textOf(fieldsOf(scenario.stop_when).tool_called);
  const conversation: Block = defined({
    start: first ?? 'Hello',
    user: Object.keys(user).length !== 0 ? user : undefined,
    ...(typeof scenario.max_turns === 'number'
      ? { max_turns: scenario.max_turns }
      : { max_turns: 8 }),
    end: tool === undefined ? undefined : { agent_tool: tool },
  });
  const outcome = fieldsOf(scenario.outcome);
  return {
    place,
    name: textOf(scenario.name) ?? `scenario-${index + 1}`,
    query: first ?? 'Hello',
    conversation,
    carried: present([
      ...LAYERS.flatMap((layer) =>
        layerChecks(outcome[layer], layer, {}, placeOf(scenario.outcome, place)),
      ),
      scenario.per_turn === undefined
        ? undefined
        : refuse(
            placeOf(scenario.per_turn, place),
            'per_turn',
            'write the checks under `turns`, turn by turn',
          ),
    ]),
    skip: first === undefined ? 'the scenario has neither turns nor a goal' : undefined,
  };
}
