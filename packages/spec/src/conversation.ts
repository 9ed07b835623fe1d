import { patternIssues, schemaIssues } from '@agentci/checks';
import { hasValues } from '@agentci/lib/data';
import type { Location, Problem } from '@agentci/lib/problems';
import { findCredentials, SECRETS } from '@agentci/lib/secrets';
import { isVisible } from '@agentci/lib/text';
import { type Infer, v } from '@agentci/lib/values';
import {
  keyPlace,
  resolvePlain,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
} from '@agentci/lib/yaml';
import { LAYERS, type Layer } from '@agentci/results';
import type { SpecProblems } from './problems.ts';
import type {
  ConversationPlan,
  LayerBlock,
  Query,
  StatePlan,
  TurnChecks,
  UserPlan,
} from './suite.ts';

const text = v.string().regex(/\S/);
const MAX_TURNS = 200;
const DEFAULT_MAX_TURNS = 20;
const MAX_TIMES = 1000;
const MAX_TIMEOUT_MS = 86_400_000;
const DEFAULT_STATE_TIMEOUT_MS = 30_000;

const scriptEntry = v.strictObject({
  say: text.describe('What the user says'),
  when: v
    .string()
    .optional()
    .describe('Said when this regular expression is found in the answer before it'),
  times: v
    .number()
    .int()
    .min(1)
    .max(MAX_TIMES)
    .optional()
    .describe('Maximum number of uses (default: 1)'),
  required: v
    .boolean()
    .optional()
    .describe('The conversation cannot be judged when this was never said'),
});

const userSchema = v.strictObject({
  script: v
    .array(v.union([text, scriptEntry]))
    .min(1)
    .optional()
    .describe('What the user says: plain texts in order, entries with "when" before them'),
  persona: text.optional().describe('Who the user is, when a model plays it'),
  facts: v
    .record(v.string(), v.union([text, v.number()]))
    .optional()
    .describe('All that the user knows: numbers, ids, dates'),
  goal: text.optional().describe('Goal of the user, who is simulated by a model'),
  goal_tool: text.optional().describe('Tool that must have run before the user may be done'),
  model: text.optional().describe("The model that simulates the user (default: the judge's)"),
});

export const conversationSchema = v
  .strictObject({
    start: text.optional().describe('The first message of the user (default: "query")'),
    user: userSchema.optional().describe('Who talks to the agent'),
    max_turns: v
      .number()
      .int()
      .min(1)
      .max(MAX_TURNS)
      .optional()
      .describe(`A turn is a message and its answer (default: ${DEFAULT_MAX_TURNS})`),
    session: v
      .enum(['stateless', 'stateful'])
      .optional()
      .describe(
        'stateless: the agent gets the whole history each turn. stateful: the newest message only',
      ),
    end: v
      .strictObject({
        user_done: v
          .boolean()
          .optional()
          .describe(
            'false: the agent has to end the conversation, and it is an error if the script ends first',
          ),
        agent_tool: v
          .union([text, v.array(text).min(1)])
          .optional()
          .describe('The conversation ends with the turn in which the agent calls this tool'),
      })
      .optional()
      .describe('What ends the conversation'),
  })
  .describe('More than one turn with the agent');

const layer = v.looseObject({});

/** The nested layers are read key by key, like those of a query. */
export const turnsSchema = v
  .array(
    v.strictObject({
      turn: v.number().int().min(1).max(MAX_TURNS).describe('Which turn, from 1'),
      correctness: layer.optional(),
      path: layer.optional(),
      cost: layer.optional(),
    }),
  )
  .min(1)
  .describe('Checks on single turns of a conversation');

export const stateSchema = v
  .strictObject({
    command: v.array(v.string()).min(1).describe('Program that prints the end state as JSON'),
    json_schema: v
      .record(v.string(), v.unknown())
      .optional()
      .describe('JSON Schema the state conforms to'),
    subset: v.unknown().optional().describe('What the state contains'),
    timeout_ms: v
      .number()
      .int()
      .min(1)
      .max(MAX_TIMEOUT_MS)
      .optional()
      .describe(`Default: ${DEFAULT_STATE_TIMEOUT_MS}`),
  })
  .refine((state) => state.json_schema !== undefined || state.subset !== undefined, {
    message: 'needs "json_schema" or "subset" to compare the state with',
    code: 'SPEC_REQUIRED',
  })
  .refine(({ command }) => command[0] === undefined || /\S/.test(command[0]), {
    message: 'the first item of "command" is the program to run, but it is blank',
    code: 'SPEC_EMPTY',
  })
  .describe('What the world looks like after the run: JSON of a program, compared');

export type WrittenConversation = Infer<typeof conversationSchema>;
export type WrittenState = Infer<typeof stateSchema>;

/** Converts a conversation to its internal form. */
export function toConversation(written: WrittenConversation): ConversationPlan {
  const { user, max_turns: maxTurns = DEFAULT_MAX_TURNS, session = 'stateless', end } = written;
  const tools = end?.agent_tool;
  const played = user?.goal === undefined ? undefined : toUser(user, user.goal);
  let endTools: readonly string[];
  if (tools === undefined) {
    endTools = [];
  } else if (typeof tools === 'string') {
    endTools = [tools];
  } else {
    endTools = tools;
  }
  return {
    user: played,
    script: (user?.script ?? []).map((entry) =>
      typeof entry === 'string' ? { say: entry } : entry,
    ),
    maxTurns,
    session,
    mustAgentEnd: end?.user_done === false,
    endTools,
  };
}

function toUser(user: NonNullable<WrittenConversation['user']>, goal: string): UserPlan {
  const { persona, facts = {}, goal_tool: goalTool, model } = user;
  return {
    goal,
    facts: Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, String(value)])),
    persona,
    goalTool,
    model,
  };
}

export const toState = (written: WrittenState): StatePlan => ({
  command: written.command,
  timeoutMs: written.timeout_ms ?? DEFAULT_STATE_TIMEOUT_MS,
  jsonSchema: written.json_schema,
  subset: written.subset,
});

/** Problems of a conversation whose values have the right types. */
export function conversationIssues(written: WrittenConversation): readonly Problem[] {
  const issues: Problem[] = [...scriptIssues(written), ...userIssues(written)];
  const { maxTurns, script: entries } = toConversation(written);
  const said = 1 + entries.filter(({ when }) => when === undefined).length;
  if (said > maxTurns)
    issues.push({
      severity: 'warning',
      code: 'SPEC_SCRIPT_TOO_LONG',
      message: `the script takes ${said} turns, and max_turns is ${maxTurns}: its end is never said`,
      path: ['user', 'script'],
    });
  if (written.end?.user_done === false && written.end.agent_tool === undefined)
    issues.push({
      code: 'SPEC_NEEDS_KEY',
      message: '"user_done: false" needs "agent_tool": nothing else says when the agent is done',
      path: ['end', 'user_done'],
    });
  return issues;
}

function scriptIssues(written: WrittenConversation): readonly Problem[] {
  const issues: Problem[] = [];
  const { script = [] } = written.user ?? {};
  for (const [i, entry] of script.entries()) {
    if (typeof entry === 'string') continue;
    if (entry.when !== undefined)
      for (const issue of patternIssues('when', entry.when).filter(isAboutPattern))
        issues.push({ ...issue, path: ['user', 'script', i, 'when'] });
    else if (entry.times !== undefined)
      issues.push({
        code: 'SPEC_NEEDS_KEY',
        message: '"times" is for entries with "when"; any other is used once',
        hint: 'repeat the line, or add "when"',
        path: ['user', 'script', i, 'times'],
      });
  }
  const spoken: readonly (readonly [readonly (string | number)[], string])[] = [
    [['start'], written.start ?? 'x'],
    ...script.map((entry, i) =>
      typeof entry === 'string'
        ? ([['user', 'script', i], entry] as const)
        : ([['user', 'script', i, 'say'], entry.say] as const),
    ),
  ];
  for (const [path, said] of spoken)
    if (!isVisible(said))
      issues.push({
        code: 'SPEC_EMPTY',
        message: 'this message of the user has nothing but invisible characters',
        hint: 'write what the user says',
        path,
      });
  return issues;
}

function userIssues({ user }: WrittenConversation): readonly Problem[] {
  const issues: Problem[] = [];
  if (user?.goal !== undefined && user.script !== undefined)
    issues.push({
      code: 'SPEC_VALUE',
      message: '"goal" is for a user played by a model, "script" for one without',
      hint: 'keep one of them',
      path: ['user', 'goal'],
      part: 'key',
    });
  for (const key of ['persona', 'facts', 'goal_tool', 'model'] as const)
    if (user?.[key] !== undefined && user.goal === undefined)
      issues.push({
        code: 'SPEC_NEEDS_KEY',
        message: `"${key}" needs "goal": what the user wants`,
        path: ['user', key],
        part: 'key',
      });
  for (const [path, text] of briefTexts(user ?? {})) {
    const [found] = findCredentials(text);
    if (found === undefined) continue;
    // The message shows the line with the value.
    SECRETS.add([
      { name: `user.${path.at(-1)}`, value: text.slice(found.start, found.end), isUsed: true },
    ]);
    issues.push({
      severity: 'warning',
      code: 'SPEC_CREDENTIAL',
      message: `"${path.at(-1)}" of the user holds a credential: it is sent to the model that simulates the user and to the agent, and masked in stored files`,
      hint: 'use a made-up value, or one that is worth nothing',
      path: ['user', ...path],
    });
  }
  return issues;
}

/** Texts of the brief for a simulated user, with their places. */
const briefTexts = ({
  persona = '',
  goal = '',
  facts = {},
}: NonNullable<WrittenConversation['user']>) =>
  [
    [['persona'], persona],
    [['goal'], goal],
    ...Object.entries(facts).map(([key, value]) => [['facts', key], String(value)] as const),
  ] as readonly (readonly [readonly string[], string])[];

/** A message for every answer may be intended. */
const isAboutPattern = ({ severity, code }: Problem): boolean =>
  severity !== 'warning' || code !== 'SPEC_CANNOT_FAIL';

/** The last turn that the script and `max_turns` allow. */
function lastTurn({ script, maxTurns, user }: ConversationPlan): number {
  if (user !== undefined) return maxTurns;
  const said = script.reduce(
    (sum, { when, times = 1 }) => sum + (when === undefined ? 1 : times),
    1,
  );
  return Math.min(maxTurns, said);
}

export function stateIssues({ json_schema: schema, subset }: WrittenState): readonly Problem[] {
  const issues: Problem[] =
    schema === undefined
      ? []
      : schemaIssues('json_schema', schema).map((issue) => ({
          ...issue,
          path: ['json_schema', ...(issue.path ?? [])],
        }));
  if (subset === null)
    issues.push({
      code: 'SPEC_CANNOT_FAIL',
      message: '"subset" is empty: it says nothing about the state',
      hint: 'write what the state contains',
      path: ['subset'],
    });
  for (const path of emptyPlaces(subset, []))
    issues.push({
      code: 'SPEC_CANNOT_FAIL',
      message: `every ${path.isList ? 'list' : 'object'} contains an empty one, so this cannot fail`,
      hint: path.isList
        ? 'write what the list contains, or use "json_schema" with "maxItems: 0" for a list that has to be empty'
        : 'write what the state contains',
      path: ['subset', ...path.keys],
    });
  return issues;
}

interface EmptyPlace {
  readonly keys: readonly (string | number)[];
  readonly isList: boolean;
}

/** The paths of empty values: the whole, or lists in it. "is empty" holds for every list. */
function emptyPlaces(value: unknown, keys: readonly (string | number)[]): readonly EmptyPlace[] {
  if (typeof value !== 'object' || value === null) return [];
  const isList = Array.isArray(value);
  const entries = isList ? value.map((item, i) => [i, item] as const) : Object.entries(value);
  if (entries.length === 0) return isList || keys.length === 0 ? [{ keys, isList }] : [];
  return entries.flatMap(([key, item]) => emptyPlaces(item, [...keys, key]));
}

/** The plain scalar at this position. Numbers contain neither spaces nor YAML punctuation. */
const NUMBER = /[-+.\w]+/y;

/**
 * The facts of a user, with numbers as written: `0042` and `+491712345678` are not 42 and
 * 491712345678.
 */
export function writtenFacts(
  facts: Readonly<Record<string, string | number>>,
  node: YamlNode | undefined,
): Record<string, string | number> {
  if (node?.kind !== 'map') return { ...facts };
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [
      key,
      writtenNumber(node.entries.get(key)?.value, value) ?? value,
    ]),
  );
}

function writtenNumber(node: YamlNode | undefined, value: string | number): string | undefined {
  if (typeof value !== 'number' || node?.kind !== 'scalar' || node.style !== 'plain')
    return undefined;
  NUMBER.lastIndex = node.start;
  const text = NUMBER.exec(node.source.text)?.[0];
  return text !== undefined && resolvePlain(text) === value ? text : undefined;
}

export interface TurnBlocks {
  /** Checks the block of one layer key by key. */
  readonly check: (layer: Layer, block: YamlMap, parent: string) => LayerBlock;
  /** Adds the locations of a block's checks. */
  readonly locate: (locations: Record<string, Location>, layer: Layer, block: YamlMap) => void;
}

/** Reads `turns`, whose shape was validated: the blocks of each turn, which inherit nothing. */
export function readTurns(
  list: YamlNode,
  blocks: TurnBlocks,
  problems: SpecProblems,
): readonly TurnChecks[] {
  if (list.kind !== 'seq') return [];
  return list.items.flatMap((item) => {
    if (item.kind !== 'map') return [];
    const turn = toPlain(item.entries.get('turn')!.value) as number;
    const found: Partial<Record<Layer, LayerBlock>> = {};
    const locations: Record<string, Location> = {};
    for (const layer of LAYERS) {
      const block = item.entries.get(layer)?.value;
      if (block?.kind !== 'map') continue;
      found[layer] = blocks.check(layer, block, layer);
      blocks.locate(locations, layer, block);
    }
    if (!hasValues(found))
      problems.add(item, {
        code: 'SPEC_CANNOT_FAIL',
        message: `this item of "turns" checks nothing`,
        hint: 'add "correctness", "path" or "cost" to it',
      });
    return [{ turn, ...found, locations }];
  });
}

/** A check on an impossible turn would be undecided in every run. */
export function checkTurnNumbers(
  list: YamlEntry,
  turns: readonly TurnChecks[],
  conversation: ConversationPlan | undefined,
  problems: SpecProblems,
): void {
  if (conversation === undefined) {
    problems.add(keyPlace(list), {
      code: 'SPEC_NEEDS_KEY',
      message: '"turns" needs "conversation": a query alone is one turn',
      hint: 'add "conversation", or write the checks in the query itself',
    });
    return;
  }
  const last = lastTurn(conversation);
  const items = list.value.kind === 'seq' ? list.value.items : [];
  for (const [i, { turn }] of turns.entries()) {
    const item = items[i];
    // Without a script the conversation is in a recording and may have any number of turns.
    if (
      item?.kind !== 'map' ||
      turn <= last ||
      (conversation.script.length === 0 && turn <= conversation.maxTurns)
    )
      continue;
    const why =
      turn > conversation.maxTurns
        ? `max_turns is ${conversation.maxTurns}`
        : `the script ends after turn ${last}`;
    problems.add(item.entries.get('turn')!.value, {
      code: 'SPEC_TURN_NEVER',
      message: `turn ${turn} never comes: ${why}`,
    });
  }
}

/** The checks of one turn as a separate query, without those on the whole conversation. */
export function queryOfTurn(
  query: Query,
  { correctness, path, cost, locations }: TurnChecks,
  asked: string,
): Query {
  const {
    conversation: _,
    turns: __,
    state: ___,
    metrics: ____,
    policy: _____,
    policies: ______,
    correctness: _c,
    path: _p,
    cost: _k,
    ...rest
  } = query;
  return {
    ...rest,
    query: asked,
    locations,
    correctness,
    path,
    cost,
  };
}

/** The query and its turns as queries, to search for certain checks. */
export const withTurns = (query: Query): readonly Query[] =>
  query.turns === undefined
    ? [query]
    : [query, ...query.turns.map((checks) => queryOfTurn(query, checks, query.query))];
