import type { Location } from '../kit/diagnostic.ts';
import type { Mutable } from '../kit/mutable.ts';
import type { Infer } from '../kit/value-schema.ts';
import { keyPlace, locate, setOwn, toPlain, type YamlEntry, type YamlMap, type YamlNode } from '../kit/yaml-node.ts';
import type { Policy } from '../policy/policy.ts';
import { LAYERS, type Layer } from '../results/run-result.ts';
import { meetDeep, overlay, sortedEntries } from './defaults.ts';
import { QUERY_KEYS, SHARED_KEYS } from './keys.ts';
import { unknownKeyHint } from './known-keys.ts';
import { LayerBlockChecker } from './layer-block.ts';
import { isLayer, LAYER_KEYS, type LayerKey } from './layer-keys.ts';
import { checkMetrics } from './metric-check.ts';
import { isBounded, metricRequests } from './metric-list.ts';
import type { PolicyLoader } from './policy-loader.ts';
import type { SpecProblems } from './problems.ts';
import type { Query } from './suite.ts';
import { checkValue, emptyKey, isBroken, isNull } from './value-check.ts';

export const DEFAULTS_KEY_NAMES = [...LAYERS, ...Object.keys(SHARED_KEYS)];
export const QUERY_KEY_NAMES = [...Object.keys(QUERY_KEYS), ...DEFAULTS_KEY_NAMES];

const ALWAYS_PASSES = {
  severity: 'warning' as const,
  code: 'SPEC_CANNOT_FAIL',
  message: 'with min_pass_rate 0 the query passes however many of its runs fail',
};

/** A violated rule, rubric, call or expression is shown at its own line. */
const LOCATED_ITEMS: ReadonlySet<string> = new Set(['llm_judge', 'rules', 'expr', 'code', 'forbidden_calls']);

const VALUE_SCHEMAS = new Map(Object.entries({ ...QUERY_KEYS, ...SHARED_KEYS }));

type WrittenQuery = { readonly [K in keyof typeof QUERY_KEYS]?: Infer<(typeof QUERY_KEYS)[K]> } & {
  readonly [K in keyof typeof SHARED_KEYS]?: Infer<(typeof SHARED_KEYS)[K]>;
} & Pick<Query, Layer>;

/** A query that was read. Its id is empty where none was written; ids are given once all queries are known. */
export interface ReadQuery {
  readonly idEntry: YamlEntry | undefined;
  /** As merged, for the hash of the spec. */
  readonly plain: Readonly<Record<string, unknown>>;
  readonly query: Mutable<Query>;
}

/** Reads queries: each laid over the defaults, then checked key by key. */
export class QueryReader {
  readonly #problems: SpecProblems;
  readonly #blocks: LayerBlockChecker;
  readonly #policies: PolicyLoader;
  /** By key. */
  readonly #defaults: readonly YamlEntry[];
  readonly #hasUse: boolean;
  /** What many queries inherit is looked at once. */
  readonly #checkedMetrics = new WeakSet<YamlNode>();
  /** One place for an entry that many queries inherit. */
  readonly #located = new Map<YamlEntry, Location>();

  constructor(
    defaults: YamlMap | undefined,
    problems: SpecProblems,
    { dir, policies, hasUse }: { readonly dir: string; readonly policies: PolicyLoader; readonly hasUse: boolean },
  ) {
    this.#problems = problems;
    this.#policies = policies;
    this.#hasUse = hasUse;
    this.#blocks = new LayerBlockChecker(problems, dir);
    this.#defaults = defaults === undefined ? [] : this.#readDefaults(defaults);
  }

  /** Leaves only what queries may inherit, so that a mistake here does not show up in each of them. */
  #readDefaults(defaults: YamlMap): YamlEntry[] {
    const entries: YamlEntry[] = [];
    for (const entry of sortedEntries(defaults)) {
      const { key } = entry;
      if (!DEFAULTS_KEY_NAMES.includes(key)) this.#unknown('"defaults"', entry, DEFAULTS_KEY_NAMES);
      else if (isLayer(key)) {
        const block = this.#block(entry);
        if (block === undefined) continue;
        this.#blocks.checkPartial(key, block);
        for (const one of block.entries.values()) this.#located.set(one, locate(one.keySource, one.keyStart));
        entries.push(entry);
      } else if (checkValue(entry, VALUE_SCHEMAS.get(key)!, this.#problems)) entries.push(entry);
    }
    return entries;
  }

  read(node: YamlNode): ReadQuery | undefined {
    if (isBroken(node)) return undefined;
    if (node.kind !== 'map') {
      this.#problems.add(node, {
        code: isNull(node) ? 'SPEC_EMPTY' : 'SPEC_TYPE',
        message: isNull(node) ? 'this item of "queries" is empty' : 'each item of "queries" must be a map',
        hint: 'start it with "- query: …"',
      });
      return undefined;
    }
    const plain: Record<string, unknown> = {};
    const locations: Record<string, Location> = {};
    let hasChecks = false;
    let policy: Policy | undefined;
    // By key, so that queries of equal meaning are hashed alike without being sorted again.
    for (const entry of overlay(this.#defaults, node, meetQuery)) {
      const { key } = entry;
      if (isLayer(key)) {
        const block = this.#block(entry);
        hasChecks ||= block === undefined;
        if (block === undefined) continue;
        const checked = this.#blocks.check(key, block);
        plain[key] = checked.values;
        // A path block alone asks for the comparison with a baseline.
        hasChecks ||= checked.hasChecks || key === 'path';
        this.#addLocations(locations, key, checked.entries);
      } else {
        const isKnown = VALUE_SCHEMAS.has(key);
        hasChecks ||= !isKnown || key === 'policy';
        if (!this.#value(entry)) {
          hasChecks ||= key === 'metrics';
          continue;
        }
        setOwn(plain, key, toPlain(entry.value));
        if (key === 'metadata') this.#metadata(entry.value);
        if (key === 'min_pass_rate' && plain.min_pass_rate === 0) this.#problems.add(entry.value, ALWAYS_PASSES);
        if (key === 'metrics') {
          hasChecks ||= metricRequests(plain.metrics).some(isBounded);
          addMetricLocations(locations, entry.value);
          this.#metrics(entry.value);
        }
        if (key === 'policy') {
          locations.policy = locate(entry.keySource, entry.keyStart);
          policy = this.#policies.load(entry.value);
        }
      }
    }
    this.#required(node);
    if (!hasChecks) {
      this.#problems.add(node, {
        severity: 'warning',
        code: 'SPEC_NO_CHECKS',
        message: 'this query checks nothing, so it cannot fail',
        hint: 'add "correctness", "path" or "cost" to it, or to "defaults"',
      });
    }
    const query = toQuery(plain, locate(node.source, node.start), locations);
    if (policy !== undefined) query.policies = [policy];
    return { idEntry: node.entries.get('id'), plain, query };
  }

  /** After the last query. */
  finish(): void {
    this.#blocks.finish();
  }

  #addLocations(locations: Record<string, Location>, layer: Layer, entries: readonly YamlEntry[]): void {
    const keys = LAYER_KEYS[layer];
    for (const entry of entries) {
      const { key, value } = entry;
      const id = keys.get(key)?.id;
      if (id === undefined) continue;
      locations[id] = this.#located.get(entry) ?? locate(entry.keySource, entry.keyStart);
      this.#addParts(locations, layer, keys.get(key)!, id, value);
    }
  }

  /** Places inside a check: of each item of a list that says which one it was, and of the checks in a combinator. */
  #addParts(
    locations: Record<string, Location>,
    layer: Layer,
    { key, blocks }: LayerKey,
    id: string,
    value: YamlNode,
  ): void {
    if (value.kind === 'seq' && (blocks === 'list' || LOCATED_ITEMS.has(key)))
      for (const [i, { source, start }] of value.items.entries()) locations[`${id}[${i}]`] = locate(source, start);
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

  /** One level of indentation too many turns checks into data, which is easy to miss. */
  #metadata(metadata: YamlNode): void {
    if (metadata.kind !== 'map') return;
    for (const entry of metadata.entries.values()) {
      const { key, value } = entry;
      if (!isLayer(key) || value.kind !== 'map' || ![...value.entries.keys()].some((name) => LAYER_KEYS[key].has(name)))
        continue;
      this.#problems.add(keyPlace(entry), {
        severity: 'warning',
        code: 'SPEC_CHECKS_IN_METADATA',
        message: `"${key}" is under "metadata", where it checks nothing`,
        hint: 'indent it one level less',
      });
    }
  }

  #required(query: YamlMap): void {
    if (query.entries.has('query')) return;
    this.#problems.add(query, { code: 'SPEC_REQUIRED', message: 'a query needs "query", the text the agent is asked' });
  }

  #block(entry: YamlEntry): YamlMap | undefined {
    const { key, value } = entry;
    if (value.kind === 'map') return value;
    if (isNull(value)) this.#problems.add(keyPlace(entry), emptyKey(key));
    else if (!isBroken(value)) {
      const shown = value.kind === 'seq' ? 'a list' : JSON.stringify(toPlain(value));
      this.#problems.add(value, { code: 'SPEC_TYPE', message: `"${key}" must be a map of checks, not ${shown}` });
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

/** Layer blocks meet key by key, where they are checked. */
const meetQuery = (inherited: YamlEntry, own: YamlEntry): YamlEntry =>
  isLayer(own.key) ? own : meetDeep(inherited, own);

function addMetricLocations(locations: Record<string, Location>, metrics: YamlNode): void {
  for (const item of metrics.kind === 'seq' ? metrics.items : [metrics]) {
    if (item.kind === 'scalar') locations[`metric.${item.value}`] = locate(item.source, item.start);
    else if (item.kind === 'map') {
      for (const { key, keySource, keyStart } of item.entries.values())
        locations[`metric.${key}`] = locate(keySource, keyStart);
    }
  }
}

/** The types hold for a spec without errors; with errors no query is handed out. */
function toQuery(
  written: Readonly<Record<string, unknown>>,
  location: Location,
  locations: Record<string, Location>,
): Mutable<Query> {
  const plain = written as WrittenQuery;
  const query: Mutable<Query> = {
    id: plain.id ?? '',
    query: plain.query ?? '',
    tags: plain.tags ?? [],
    runs: plain.runs ?? 1,
    minPassRate: plain.min_pass_rate ?? 1,
    location,
    locations,
  };
  if (plain.description !== undefined) query.description = plain.description;
  if (plain.context !== undefined) query.context = typeof plain.context === 'string' ? [plain.context] : plain.context;
  if (plain.expected_output !== undefined) query.expectedOutput = plain.expected_output;
  if (plain.metadata !== undefined) query.metadata = plain.metadata;
  if (plain.xfail !== undefined) query.xfail = plain.xfail;
  if (plain.correctness !== undefined) query.correctness = plain.correctness;
  if (plain.path !== undefined) query.path = plain.path;
  if (plain.cost !== undefined) query.cost = plain.cost;
  if (plain.metrics !== undefined) query.metrics = plain.metrics;
  if (plain.policy !== undefined) query.policy = plain.policy;
  return query;
}
