import { isObject } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import type { SourceFile } from '../../folder.ts';
import {
  type Block,
  type Carried,
  type ConvertedCase,
  type Finding,
  type Place,
  refuse,
} from '../../model.ts';
import { placeOf } from '../../places.ts';
import type { SuiteSource } from '../../source.ts';
import {
  contentText,
  type Fields,
  field,
  fieldsOf,
  listOf,
  textOf,
  type WantedCall,
} from '../../values.ts';
import { type Criterion, type Invocation, readCriteria, scoreCase } from './criteria.ts';

/** Eval sets and test files of Google's ADK, in both formats, with the criteria next to them. */
export const source: SuiteSource = {
  name: 'adk',
  summary: '*.evalset.json and *.test.json of ADK, with the test_config.json next to them',
  recognizes: (file) => {
    if (file.extension !== '.json') return false;
    const { value } = file;
    if (isObject(value))
      return (
        Array.isArray(field(value, 'eval_cases', 'evalCases')) || Array.isArray(value.scenarios)
      );
    return (
      Array.isArray(value) &&
      value.length > 0 &&
      value.every((one) => isObject(one) && (isOldTest(one) || Array.isArray(one.data)))
    );
  },
  read: (file) => {
    const criteria = criteriaBeside(file);
    const settings: Finding[] = [];
    const cases = casesIn(file.value, file).map((one, i) => convertCase(one, criteria, i));
    for (const { place, name, why } of criteria.unknown)
      settings.push({ ...place, type: name, verdict: 'none', why });
    return { agent: file.base.replace(/\.(?:evalset|test)\.json$|\.json$/, ''), cases, settings };
  },
};

const isOldTest = (one: Fields): boolean =>
  typeof one.query === 'string' && ('expected_tool_use' in one || 'reference' in one);

interface AdkCase {
  readonly name: string;
  readonly place: Place;
  readonly turns: readonly Invocation[];
  readonly scenario?: Fields;
  readonly state?: Fields;
}

interface Criteria {
  readonly list: readonly Criterion[];
  readonly unknown: readonly {
    readonly place: Place;
    readonly name: string;
    readonly why: string;
  }[];
}

const DEFAULTS = { tool_trajectory_avg_score: 1, response_match_score: 0.8 };

/** The criteria of all cases: `test_config.json` next to the set, otherwise ADK's defaults. */
function criteriaBeside(file: SourceFile): Criteria {
  try {
    const config = file.beside('test_config.json');
    return readCriteria(
      fieldsOf(fieldsOf(config.value).criteria),
      placeOf(fieldsOf(config.value).criteria, { file: config.name, line: 1 }),
    );
  } catch (error) {
    if (
      !(error instanceof UserError) ||
      error.code !== 'CONVERT_UNREADABLE' ||
      !/does not exist/.test(error.message)
    )
      throw error;
    return readCriteria(DEFAULTS, undefined);
  }
}

function casesIn(value: unknown, file: SourceFile): readonly AdkCase[] {
  const root = { file: file.name, line: 1 };
  if (Array.isArray(value)) {
    // The first format: turns of one session, or sessions with `data`.
    if (value.every((one) => Array.isArray(fieldsOf(one).data)))
      return value.map((one, i) => ({
        name: textOf(fieldsOf(one).name) ?? `case-${i + 1}`,
        place: placeOf(one, root),
        turns: listOf(fieldsOf(one).data).map((turn) =>
          oldTurn(fieldsOf(turn), placeOf(turn, root)),
        ),
      }));
    return [
      {
        name: file.base.replace(/\.test\.json$|\.json$/, ''),
        place: placeOf(value, root),
        turns: value.map((turn) => oldTurn(fieldsOf(turn), placeOf(turn, root))),
      },
    ];
  }
  const fields = fieldsOf(value);
  return listOf(field(fields, 'eval_cases', 'evalCases') ?? fields.scenarios).map((one, i) => {
    const own = fieldsOf(one);
    const scenario = fieldsOf(
      field(own, 'conversation_scenario', 'conversationScenario') ??
        (own.starting_prompt === undefined ? undefined : own),
    );
    const session = fieldsOf(field(own, 'session_input', 'sessionInput'));
    return {
      name: textOf(field(own, 'eval_id', 'evalId')) ?? `case-${i + 1}`,
      place: placeOf(one, root),
      turns: listOf(own.conversation).map((turn) => newTurn(fieldsOf(turn), placeOf(turn, root))),
      scenario: Object.keys(scenario).length !== 0 ? scenario : undefined,
      state:
        Object.keys(fieldsOf(session.state)).length !== 0 ? fieldsOf(session.state) : undefined,
    };
  });
}

function newTurn(turn: Fields, place: Place): Invocation {
  const data = fieldsOf(field(turn, 'intermediate_data', 'intermediateData'));
  const uses = field(data, 'tool_uses', 'toolUses');
  const events = listOf(field(data, 'invocation_events', 'invocationEvents')).flatMap((event) =>
    listOf(fieldsOf(fieldsOf(event).content).parts).flatMap(
      (part) => field(fieldsOf(part), 'function_call', 'functionCall') ?? [],
    ),
  );
  const calls = uses === undefined ? events : listOf(uses);
  return {
    place,
    user: contentText(fieldsOf(field(turn, 'user_content', 'userContent')).parts),
    response: contentText(fieldsOf(field(turn, 'final_response', 'finalResponse')).parts),
    calls: calls.map(
      (call): WantedCall => ({
        tool: String(fieldsOf(call).name),
        args: fieldsOf(fieldsOf(call).args),
      }),
    ),
  };
}

const oldTurn = (turn: Fields, place: Place): Invocation => ({
  place,
  user: textOf(turn.query),
  response: textOf(turn.reference),
  calls: listOf(turn.expected_tool_use).map((call) => ({
    tool: String(fieldsOf(call).tool_name),
    args: fieldsOf(fieldsOf(call).tool_input),
  })),
});

function convertCase(one: AdkCase, criteria: Criteria, index: number): ConvertedCase {
  const { turns, scenario, place } = one;
  const [first, ...rest] = turns;
  const metadata =
    one.state === undefined ? {} : { metadata: { session_state: one.state as Block } };
  const base = { place, name: one.name || `case-${index + 1}`, ...metadata };
  if (scenario !== undefined) {
    const start = textOf(field(scenario, 'starting_prompt', 'startingPrompt'));
    const goal = textOf(field(scenario, 'conversation_plan', 'conversationPlan'));
    if (start === undefined || goal === undefined)
      return {
        ...base,
        query: start ?? '(no prompt)',
        carried: [],
        skip: 'the scenario has no prompt or no plan',
      };
    return {
      ...base,
      query: start,
      conversation: { start, user: { goal } },
      carried: criteria.list.map(({ name, place: at }) =>
        refuse(at ?? place, name, 'a scenario has no expected calls or answers'),
      ),
    };
  }
  if (first?.user === undefined || rest.some(({ user }) => user === undefined))
    return {
      ...base,
      query: first?.user ?? '(no message)',
      carried: [],
      skip: 'a turn has no text of the user',
    };
  const { whole, perTurn } = scoreCase(turns, criteria.list);
  if (rest.length === 0)
    return { ...base, query: first.user, carried: [...whole, ...(perTurn[0] ?? [])] };
  return {
    ...base,
    query: first.user,
    conversation: {
      start: first.user,
      user: { script: rest.map(({ user }) => user!) },
      max_turns: turns.length,
    },
    carried: whole,
    turns: perTurn.flatMap((carried: readonly Carried[], i) =>
      carried.length === 0 ? [] : [{ turn: i + 1, carried }],
    ),
  };
}
