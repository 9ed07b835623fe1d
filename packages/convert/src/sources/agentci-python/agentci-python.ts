import { isObject } from '@agentci/lib/data';
import { negate } from '../../combine.ts';
import { contains, escapePattern } from '../../literal.ts';
import {
  type Block,
  type BlockValue,
  type Carried,
  type ConvertedCase,
  type ConvertedSuite,
  carry,
  correctness,
  cost,
  type Finding,
  type Place,
  path,
  refuse,
} from '../../model.ts';
import { placeOf } from '../../places.ts';
import type { SuiteSource } from '../../source.ts';
import { type Fields, fieldsOf, listOf, plainArgument, questionOf, textOf } from '../../values.ts';
import { isPythonSpec, readPythonSpec } from './python-spec.ts';

/**
 * The Python AgentCI: its older suites (`tests:` with `assertions:`), and `agentci_spec.yaml` with
 * its differences from ours.
 */
export const source: SuiteSource = {
  name: 'agentci-python',
  summary:
    'suites of the Python AgentCI: agentci.yaml with tests, agentci_spec.yaml, ciagent_spec.yaml',
  recognizes: (file) => {
    if (!['.yaml', '.yml'].includes(file.extension) || !isObject(file.value)) return false;
    return isOldSuite(file.value) || isPythonSpec(file.value);
  },
  read: (file) => {
    const root = file.value as Fields;
    return isPythonSpec(root)
      ? readPythonSpec(root, file)
      : readOldSuite(root, { file: file.name, line: 1 });
  },
};

const isOldSuite = (root: Fields): boolean =>
  Array.isArray(root.tests) &&
  !('prompts' in root) &&
  !('suite' in root) &&
  root.tests.some((test) => isObject(test) && 'name' in test && 'input' in test) &&
  ('agent' in root || 'framework' in root);

function readOldSuite(root: Fields, place: Place): ConvertedSuite {
  const defaults = fieldsOf(root.defaults);
  const settings: Finding[] = [];
  const agent = textOf(root.agent);
  if (agent !== undefined)
    settings.push({
      ...place,
      type: 'agent',
      verdict: 'none',
      why: `"${agent}" is called in Python: write a command around it, runner: {command: [python3, agent.py]}`,
    });
  if (textOf(root.mocks) !== undefined)
    settings.push({
      ...place,
      type: 'mocks',
      verdict: 'none',
      why: 'mocked tools are code of the agent',
    });
  const cases = listOf(root.tests).map((one, i): ConvertedCase => {
    const test = fieldsOf(one);
    const at = placeOf(one, place);
    const query = questionOf(test.input);
    const tags = listOf(test.tags).map(String);
    const description = textOf(test.description);
    const budgets = { ...defaults, ...test };
    return {
      place: at,
      name: textOf(test.name) ?? `test-${i + 1}`,
      query: query ?? '(no input)',
      description,
      tags: tags.length !== 0 ? tags : undefined,
      carried: [
        ...listOf(test.assertions).map((assertion) =>
          readAssertion(fieldsOf(assertion), placeOf(assertion, at)),
        ),
        ...budgetsOf(budgets, at),
        ...golden(test, at),
      ],
      skip: query === undefined ? 'the test has no input' : undefined,
    };
  });
  return { agent: textOf(root.name) ?? agent ?? 'agent', cases, settings };
}

const BUDGETS: readonly (readonly [string, (limit: number) => ReturnType<typeof cost>])[] = [
  ['max_cost_usd', (max_cost_usd) => cost({ max_cost_usd })],
  ['max_duration_ms', (max_latency_ms) => cost({ max_latency_ms })],
  ['max_steps', (max_llm_calls) => cost({ max_llm_calls })],
  ['max_tool_calls', (max_tool_calls) => path({ max_tool_calls })],
];

const budgetsOf = (test: Fields, place: Place): readonly Carried[] =>
  BUDGETS.flatMap(([key, part]) =>
    typeof test[key] === 'number' ? [carry(place, key, 'exact', [part(test[key])])] : [],
  );

const golden = (test: Fields, place: Place): readonly Carried[] =>
  textOf(test.golden_trace) === undefined
    ? []
    : [refuse(place, 'golden_trace', 'save the trace as a baseline: agentci save --trace-file')];

const called = (tool: string): string => `c.name == ${JSON.stringify(tool)}`;

function readAssertion(assertion: Fields, place: Place): Carried {
  const type = textOf(assertion.type) ?? 'assertion';
  const { value, threshold } = assertion;
  const tool = textOf(assertion.tool);
  const field = textOf(assertion.field);
  const none = (why: string): Carried => refuse(place, type, why);
  switch (type) {
    case 'tool_called':
      if (tool === undefined) return none('it names no tool');
      return carry(place, type, 'exact', [path({ expected_tools: [tool] })]);
    case 'tool_not_called':
      if (tool === undefined) return none('it names no tool');
      return carry(place, type, 'exact', [path({ expr: `!calls.exists(c, ${called(tool)})` })]);
    case 'tool_call_count': {
      const count = Number(threshold ?? value);
      return tool === undefined || !Number.isInteger(count)
        ? none('it needs a tool and a number')
        : carry(place, type, 'exact', [
            path({ expr: `calls.filter(c, ${called(tool)}).size() == ${count}` }),
          ]);
    }
    case 'arg_equals':
    case 'arg_contains':
      return tool === undefined || field === undefined || value === undefined
        ? none('it needs a tool, a field and a value')
        : argument(type, { tool, field, value }, place);
    case 'cost_under':
    case 'steps_under':
      if (typeof threshold !== 'number') return none('it needs a threshold');
      return carry(place, type, 'exact', [
        cost(
          type === 'cost_under'
            ? { max_cost_usd: threshold }
            : { max_llm_calls: Math.trunc(threshold) },
        ),
      ]);
    case 'output_contains':
    case 'output_not_contains': {
      if (value === undefined || value === null || String(value) === '')
        return none('an empty text is in every answer');
      const part = correctness({ regex_match: contains(String(value)) });
      return carry(place, type, 'exact', [type === 'output_contains' ? part : negate([part])!]);
    }
    case 'llm_judge':
      if (textOf(value) === undefined) return none('it has no rule');
      return carry(
        place,
        type,
        'exact',
        [correctness({ llm_judge: [{ rule: value as string }] })],
        'the rule word for word; your judge decides',
      );
    case 'handoff_target':
    case 'handoff_count':
    case 'handoff_targets_available':
      return readHandoff(type, { value, threshold }, place);
    default:
      return none('it is not a type that is known');
  }
}

function readHandoff(
  type: 'handoff_target' | 'handoff_count' | 'handoff_targets_available',
  { value, threshold }: Fields,
  place: Place,
): Carried {
  const none = (why: string): Carried => refuse(place, type, why);
  switch (type) {
    case 'handoff_target':
      return textOf(value) === undefined
        ? none('it names no agent')
        : carry(place, type, 'exact', [path({ expected_handoff: value as string })]);
    case 'handoff_count': {
      const count = Number(threshold || value);
      return Number.isInteger(count)
        ? carry(place, type, 'exact', [path({ expr: `trace.handoffs == ${count}` })])
        : none('it needs a number');
    }
    default:
      return carry(
        place,
        type,
        'close',
        [path({ expected_handoffs_available: [value].flat().map(String) })],
        'more agents may be reachable here',
      );
  }
}

/** In the source the first call of the tool decides. Here some call must have the argument. */
function argument(
  type: string,
  {
    tool,
    field,
    value,
  }: { readonly tool: string; readonly field: string; readonly value: unknown },
  place: Place,
): Carried {
  const wanted: BlockValue =
    type === 'arg_equals' ? plainArgument(value) : { regex: escapePattern(String(value)) };
  const args: Block = { [field]: wanted };
  return carry(
    place,
    type,
    'close',
    [path({ expected_calls: { mode: 'any_order', calls: [{ tool, args }] } })],
    'some call of the tool must have it, not the first alone',
  );
}
