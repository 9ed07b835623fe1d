import type { Location } from '../kit/diagnostic.ts';
import { hasValues } from '../kit/object.ts';
import {
  keyPlace,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
} from '../kit/yaml-node.ts';
import { LAYERS, type Layer } from '../results/run-result.ts';
import { lastTurn } from './conversation.ts';
import type { SpecProblems } from './problems.ts';
import type { ConversationPlan, LayerBlock, Query, TurnChecks } from './suite.ts';

export interface TurnBlocks {
  /** Checks the block of one layer key by key. */
  readonly check: (layer: Layer, block: YamlMap, parent: string) => LayerBlock;
  /** Adds the places of a block's checks. */
  readonly locate: (locations: Record<string, Location>, layer: Layer, block: YamlMap) => void;
}

/** Reads `turns`, whose shape was checked already: the blocks of each turn, which inherit nothing. */
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

/** A check on a turn that cannot come would be "could not tell" in every run. */
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
    // Without a script the conversation is in a recording, which may have any number of turns.
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

/** The checks of one turn as a query of their own. What is said of the whole conversation is not said of a turn. */
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

/** The query and the checks of its turns, for those who look for certain checks. */
export const withTurns = (query: Query): readonly Query[] =>
  query.turns === undefined
    ? [query]
    : [query, ...query.turns.map((checks) => queryOfTurn(query, checks, query.query))];
