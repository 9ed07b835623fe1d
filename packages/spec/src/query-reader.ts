import type { Mutable } from '@agentci/lib/data';
import type { Location, Problem } from '@agentci/lib/problems';
import type { Infer } from '@agentci/lib/values';
import {
  keyPlace,
  locate,
  placeAt,
  setOwn,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
  type YamlPlace,
} from '@agentci/lib/yaml';
import type { Policy } from '@agentci/policy';
import { LAYERS, type Layer } from '@agentci/results';
import {
  checkTurnNumbers,
  conversationIssues,
  readTurns,
  stateIssues,
  toConversation,
  toState,
  type WrittenConversation,
  type WrittenState,
  writtenFacts,
} from './conversation.ts';
import { meetDeep, overlay, sortedEntries } from './defaults.ts';
import type { SpecFolder } from './files.ts';
import { QUERY_KEYS, SHARED_KEYS, unknownKeyHint } from './keys.ts';
import { type CheckedBlock, LayerBlockChecker } from './layer-block.ts';
import { isLayer, LAYER_KEYS, type LayerKey } from './layer-keys.ts';
import { checkMetrics } from './metric-check.ts';
import { isBounded, metricRequests } from './metric-list.ts';
import type { PolicyLoader } from './policy-loader.ts';
import type { SpecProblems } from './problems.ts';
import type { Query, TurnChecks } from './suite.ts';
import { checkValue, emptyKey, isBroken, isNull } from './value-check.ts';

export const DEFAULTS_KEY_NAMES = [...LAYERS, ...Object.keys(SHARED_KEYS)];
export const QUERY_KEY_NAMES = [...Object.keys(QUERY_KEYS), ...DEFAULTS_KEY_NAMES];

const ALWAYS_PASSES = {
  severity: 'warning' as const,
  code: 'SPEC_CANNOT_FAIL',
  message: 'with min_pass_rate 0 the query passes however many of its runs fail',
};

/** A violated rule, rubric, call or expression is shown at its line. */
const LOCATED_ITEMS: ReadonlySet<string> = new Set([
  'llm_judge',
  'rules',
  'expr',
  'code',
  'forbidden_calls',
]);

/** Keys that give verdicts, besides the layers. */
const CHECKING: ReadonlySet<string> = new Set(['policy', 'state', 'turns']);

/** The schema of each query key that is not a layer. */
export const VALUE_SCHEMAS = new Map(Object.entries({ ...QUERY_KEYS, ...SHARED_KEYS }));

/**
 * A parsed query. Its id is empty if none was written, because ids are assigned once all queries
 * are known.
 */
export interface ReadQuery {
  /** The place of its id, in the spec or in a row. */
  readonly idPlace: YamlPlace | undefined;
  /** After merging, for the hash of the spec. Absent if the first query of the same rows has it. */
  readonly plain: Readonly<Record<string, unknown>> | undefined;
  /** A single one, or one for each cell of the matrix. */
  readonly queries: readonly Mutable<Query>[];
  /** The source of a generated id. For a row, with the row's number. */
  readonly named?: { readonly base: IdBase; readonly row?: number };
}

/** The source of the ids of rows. */
export interface IdBase {
  readonly written?: string;
  readonly text: string;
}

interface QueryReaderOptions {
  readonly folder: SpecFolder;
  readonly policies: PolicyLoader;
  readonly hasUse: boolean;
  /** Some query has variables. Defaults with braces can only be checked there. */
  readonly hasVariables: boolean;
}

/** Reads queries: merges each with the defaults, then checks it key by key. */
export class QueryReader {
  readonly #problems: SpecProblems;
  readonly #blocks: LayerBlockChecker;
  readonly #policies: PolicyLoader;
  /** By key. */
  readonly #defaults: readonly YamlEntry[];
  readonly #hasUse: boolean;
  readonly #hasVariables: boolean;
  /** Values that many queries inherit are checked once. */
  readonly #checkedMetrics = new WeakSet<YamlNode>();
  /** One location for an entry that many queries inherit. */
  readonly #located = new Map<YamlEntry, Location>();

  constructor(
    defaults: YamlMap | undefined,
    problems: SpecProblems,
    { folder, policies, hasUse, hasVariables }: QueryReaderOptions,
  ) {
    this.#problems = problems;
    this.#policies = policies;
    this.#hasUse = hasUse;
    this.#hasVariables = hasVariables;
    this.#blocks = new LayerBlockChecker(problems, folder);
    this.#defaults = defaults === undefined ? [] : this.#readDefaults(defaults);
  }

  /** Keeps only valid entries, so that an error here is not repeated for every query. */
  #readDefaults(defaults: YamlMap): YamlEntry[] {
    const entries: YamlEntry[] = [];
    for (const entry of sortedEntries(defaults)) {
      const { key } = entry;
      if (!DEFAULTS_KEY_NAMES.includes(key)) this.#unknown('"defaults"', entry, DEFAULTS_KEY_NAMES);
      else if (isLayer(key)) {
        const block = this.#block(entry);
        if (block === undefined) continue;
        this.#blocks.checkPartial(key, block, (each) => this.#isOpen(each));
        for (const one of block.entries.values())
          this.#located.set(one, locate(one.keySource, one.keyStart));
        entries.push(entry);
      } else if (this.#isOpen(entry) || checkValue(entry, VALUE_SCHEMAS.get(key)!, this.#problems))
        entries.push(entry);
    }
    return entries;
  }

  /** Whether an entry of `defaults` can only be checked in a query. */
  #isOpen = ({ value }: YamlEntry): boolean => this.#hasVariables && hasBraces(value);

  /** The map of a query. Undefined if the item is not one, which was reported. */
  mapOf(node: YamlNode): YamlMap | undefined {
    if (isBroken(node)) return undefined;
    if (node.kind !== 'map') {
      this.#problems.add(node, {
        code: isNull(node) ? 'SPEC_EMPTY' : 'SPEC_VALUE',
        message: isNull(node)
          ? 'this item of "queries" is empty'
          : 'each item of "queries" must be a map',
        hint: 'start it with "- query: …"',
      });
      return undefined;
    }
    return node;
  }

  read(node: YamlMap): ReadQuery {
    const draft = newDraft();
    // Sorted by key, so that equivalent queries have equal hashes.
    for (const entry of overlay(this.#defaults, node, meetQuery)) this.apply(draft, entry);
    const query = this.complete(draft, node);
    return { idPlace: node.entries.get('id')?.value, plain: draft.plain, queries: [query] };
  }

  /** A query's entries merged over the defaults, sorted by key. */
  entriesOf = (node: YamlMap): readonly YamlEntry[] => overlay(this.#defaults, node, meetQuery);

  /**
   * The entries of a layer's block merged over its defaults. Undefined if it is not a block, which
   * was reported.
   */
  entriesOfBlock(layer: Layer, entry: YamlEntry): readonly YamlEntry[] | undefined {
    const block = this.#block(entry);
    return block === undefined ? undefined : this.#blocks.merged(layer, block);
  }

  /** Reads one entry into a draft query. */
  apply(draft: Draft, entry: YamlEntry): void {
    const { plain, locations } = draft;
    const { key } = entry;
    if (isLayer(key)) {
      const block = this.#block(entry);
      if (block === undefined) draft.hasChecks = true;
      else this.#addBlock(draft, key, this.#blocks.check(key, block));
      return;
    }
    const isKnown = VALUE_SCHEMAS.has(key);
    draft.hasChecks ||= !isKnown || CHECKING.has(key);
    if (!this.#value(entry)) {
      draft.hasChecks ||= key === 'metrics';
      return;
    }
    setOwn(plain, key, toPlain(entry.value));
    if (key === 'metadata') this.#metadata(entry.value);
    if (key === 'min_pass_rate' && plain.min_pass_rate === 0)
      this.#problems.add(entry.value, ALWAYS_PASSES);
    if (key === 'metrics') {
      draft.hasChecks ||= metricRequests(plain.metrics).some(isBounded);
      addMetricLocations(locations, entry.value);
      this.#metrics(entry.value);
    }
    if (key === 'conversation') {
      const end = entry.value.kind === 'map' ? entry.value.entries.get('end') : undefined;
      if (end !== undefined) locations['correctness.end'] = locate(end.keySource, end.keyStart);
      const written = plain.conversation as WrittenConversation;
      const user = entry.value.kind === 'map' ? entry.value.entries.get('user')?.value : undefined;
      if (written.user?.facts !== undefined && user?.kind === 'map')
        written.user.facts = writtenFacts(written.user.facts, user.entries.get('facts')?.value);
      this.#report(entry.value, conversationIssues(written));
    }
    if (key === 'state') {
      locations['correctness.state'] = locate(entry.keySource, entry.keyStart);
      this.#report(entry.value, stateIssues(plain.state as WrittenState));
    }
    if (key === 'turns') this.#turns(draft, entry);
    if (key === 'policy') {
      locations.policy = locate(entry.keySource, entry.keyStart);
      draft.policy = this.#policies.load(entry.value);
    }
  }

  /**
   * Reads the merged entries of a layer's block. `isConstant` marks entries that are equal for
   * every row.
   */
  applyBlock(
    draft: Draft,
    layer: Layer,
    entries: readonly YamlEntry[],
    isConstant: (entry: YamlEntry) => boolean,
  ): void {
    this.#addBlock(draft, layer, this.#blocks.checkMerged(layer, entries, isConstant));
  }

  /** Builds the query from a complete draft. */
  complete(
    draft: Draft,
    node: YamlMap,
    location = locate(node.source, node.start),
  ): Mutable<Query> {
    this.#required(node);
    const turns = node.entries.get('turns');
    if (turns !== undefined && draft.turns !== undefined) {
      const written = draft.plain.conversation as WrittenConversation | undefined;
      // An invalid one has its own problem.
      if (written !== undefined || !node.entries.has('conversation'))
        checkTurnNumbers(turns, draft.turns, written && toConversation(written), this.#problems);
    }
    // A skipped query is not run, so it need not check anything. A required end of a conversation
    // is a check too.
    const mustEnd =
      (draft.plain.conversation as WrittenConversation | undefined)?.end?.user_done === false;
    if (!draft.hasChecks && !mustEnd && draft.plain.skip === undefined) {
      this.#problems.add(node, {
        severity: 'warning',
        code: 'SPEC_NO_CHECKS',
        message: 'this query checks nothing, so it cannot fail',
        hint: 'add "correctness", "path" or "cost" to it, or to "defaults"',
      });
    }
    return toQuery(draft, location);
  }

  #addBlock(draft: Draft, layer: Layer, checked: CheckedBlock): void {
    draft.plain[layer] = checked.values;
    // A path block alone requests the comparison with a baseline.
    draft.hasChecks ||= checked.hasChecks || layer === 'path';
    this.#addLocations(draft.locations, layer, checked.entries);
  }

  /** Called after the last query. */
  finish(): void {
    this.#blocks.finish();
  }

  #addLocations(
    locations: Record<string, Location>,
    layer: Layer,
    entries: readonly YamlEntry[],
  ): void {
    const keys = LAYER_KEYS[layer];
    for (const entry of entries) {
      const { key, value } = entry;
      const id = keys.get(key)?.id;
      if (id === undefined) continue;
      locations[id] = this.#located.get(entry) ?? locate(entry.keySource, entry.keyStart);
      this.#addParts(locations, layer, keys.get(key)!, id, value);
    }
  }

  /**
   * Locations in a check: of each list item that is reported separately, and of the checks in a
   * combinator.
   */
  #addParts(
    locations: Record<string, Location>,
    layer: Layer,
    { key, blocks }: LayerKey,
    id: string,
    value: YamlNode,
  ): void {
    if (value.kind === 'seq' && (blocks === 'list' || LOCATED_ITEMS.has(key)))
      for (const [i, { source, start }] of value.items.entries())
        locations[`${id}[${i}]`] = locate(source, start);
    if (blocks === undefined) return;
    const nodes = value.kind === 'seq' ? value.items : [value];
    for (const [i, node] of nodes.entries()) {
      if (node.kind !== 'map') continue;
      for (const entry of node.entries.values()) {
        const inner = LAYER_KEYS[layer].get(entry.key);
        if (inner === undefined) continue;
        const place = `${id}${blocks === 'list' ? `[${i}]` : ''}.${entry.key}`;
        locations[place] = locate(entry.keySource, entry.keyStart);
        this.#addParts(locations, layer, inner, place, entry.value);
      }
    }
  }

  #value(entry: YamlEntry): boolean {
    const schema = VALUE_SCHEMAS.get(entry.key);
    if (schema !== undefined) return checkValue(entry, schema, this.#problems);
    this.#unknown('a query', entry, QUERY_KEY_NAMES);
    return false;
  }

  #metrics(node: YamlNode): void {
    if (this.#checkedMetrics.has(node)) return;
    this.#checkedMetrics.add(node);
    checkMetrics(node, this.#problems, { hasUse: this.#hasUse });
  }

  #turns(draft: Draft, entry: YamlEntry): void {
    draft.turns = readTurns(
      entry.value,
      {
        check: (layer, block, parent) => this.#blocks.checkAlone(layer, block, parent),
        locate: (locations, layer, block) =>
          this.#addLocations(locations, layer, [...block.entries.values()]),
      },
      this.#problems,
    );
  }

  #report(node: YamlNode, issues: readonly Problem[]): void {
    for (const { path = [], part, severity, code, message, hint } of issues)
      this.#problems.add(path.length === 0 ? node : placeAt(node, path, part), {
        severity,
        code,
        message,
        hint,
      });
  }

  /** Wrong indentation turns checks into metadata, which is easy to miss. */
  #metadata(metadata: YamlNode): void {
    if (metadata.kind !== 'map') return;
    for (const entry of metadata.entries.values()) {
      const { key, value } = entry;
      if (
        !isLayer(key) ||
        value.kind !== 'map' ||
        ![...value.entries.keys()].some((name) => LAYER_KEYS[key].has(name))
      )
        continue;
      this.#problems.add(keyPlace(entry), {
        severity: 'warning',
        code: 'SPEC_CHECKS_IN_METADATA',
        message: `"${key}" checks nothing under "metadata"`,
        hint: 'indent it one level less',
      });
    }
  }

  #required(query: YamlMap): void {
    const entry = query.entries.get('conversation');
    const conversation = entry?.value;
    const start = conversation?.kind === 'map' ? conversation.entries.get('start') : undefined;
    if (query.entries.has('query')) {
      if (start !== undefined)
        this.#problems.add(keyPlace(start), {
          code: 'SPEC_VALUE',
          message: '"query" and "start" are both the first message of the conversation',
          hint: 'keep one of them',
        });
      return;
    }
    if (start !== undefined) return;
    if (entry !== undefined) {
      this.#problems.add(keyPlace(entry), {
        code: 'SPEC_REQUIRED',
        message: 'a conversation needs its first message: "start" in it, or "query" next to it',
      });
      return;
    }
    this.#problems.add(query, {
      code: 'SPEC_REQUIRED',
      message: 'a query needs "query", the text the agent is asked',
    });
  }

  #block(entry: YamlEntry): YamlMap | undefined {
    const { key, value } = entry;
    if (value.kind === 'map') return value;
    if (isNull(value)) this.#problems.add(keyPlace(entry), emptyKey(key));
    else if (!isBroken(value)) {
      const shown = value.kind === 'seq' ? 'a list' : JSON.stringify(toPlain(value));
      this.#problems.add(value, {
        code: 'SPEC_VALUE',
        message: `"${key}" must be a map of checks, not ${shown}`,
      });
    }
    return undefined;
  }

  #unknown(where: string, entry: YamlEntry, allowed: readonly string[]): void {
    this.#problems.add(keyPlace(entry), {
      code: 'SPEC_UNKNOWN_KEY',
      message: `${where} has no key "${entry.key}"`,
      hint: unknownKeyHint(entry.key, allowed),
    });
  }
}

/** Layer blocks are merged key by key when they are checked. */
const meetQuery = (inherited: YamlEntry, own: YamlEntry): YamlEntry =>
  isLayer(own.key) ? own : meetDeep(inherited, own);

function hasBraces(node: YamlNode): boolean {
  if (node.kind === 'scalar') return typeof node.value === 'string' && node.value.includes('{{');
  if (node.kind === 'seq') return node.items.some(hasBraces);
  return [...node.entries.values()].some(({ value }) => hasBraces(value));
}

/** A partially read query. */
export interface Draft {
  /** After merging, for the hash of the spec. */
  readonly plain: Record<string, unknown>;
  locations: Record<string, Location>;
  hasChecks: boolean;
  policy: Policy | undefined;
  turns?: readonly TurnChecks[];
}

export const newDraft = (): Draft => ({
  plain: {},
  locations: {},
  hasChecks: false,
  policy: undefined,
});

type WrittenQuery = { readonly [K in keyof typeof QUERY_KEYS]?: Infer<(typeof QUERY_KEYS)[K]> } & {
  readonly [K in keyof typeof SHARED_KEYS]?: Infer<(typeof SHARED_KEYS)[K]>;
} & Pick<Query, Layer>;

/** One list for all queries without tags, because there may be a hundred thousand. */
const NO_TAGS: readonly string[] = Object.freeze([]);

/**
 * The query of a complete draft. The types hold for a valid spec. With errors no query is returned.
 */
function toQuery(
  { plain: written, locations, policy, turns }: Draft,
  location: Location,
): Mutable<Query> {
  const plain = written as WrittenQuery;
  const { context } = plain;
  return {
    id: plain.id ?? '',
    query: plain.query ?? plain.conversation?.start ?? '',
    description: plain.description,
    tags: plain.tags ?? NO_TAGS,
    runs: plain.runs ?? 1,
    minPassRate: plain.min_pass_rate ?? 1,
    context: typeof context === 'string' ? [context] : context,
    expectedOutput: plain.expected_output,
    metadata: plain.metadata,
    xfail: plain.xfail,
    skip: plain.skip,
    conversation: plain.conversation && toConversation(plain.conversation),
    turns,
    state: plain.state && toState(plain.state),
    correctness: plain.correctness,
    path: plain.path,
    cost: plain.cost,
    metrics: plain.metrics,
    policy: plain.policy,
    policies: policy && [policy],
    location,
    locations,
  };
}

function addMetricLocations(locations: Record<string, Location>, metrics: YamlNode): void {
  for (const item of metrics.kind === 'seq' ? metrics.items : [metrics]) {
    if (item.kind === 'scalar') locations[`metric.${item.value}`] = locate(item.source, item.start);
    else if (item.kind === 'map') {
      for (const { key, keySource, keyStart } of item.entries.values())
        locations[`metric.${key}`] = locate(keySource, keyStart);
    }
  }
}
