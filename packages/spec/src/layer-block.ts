import { emptyListIssue } from '@agentci/checks';
import type { Problem } from '@agentci/lib/problems';
import {
  keyPlace,
  placeAt,
  placeInside,
  setOwn,
  toPlain,
  type YamlEntry,
  type YamlMap,
  type YamlNode,
} from '@agentci/lib/yaml';
import type { Layer } from '@agentci/results';
import { meetDeep, overlay, sortedEntries } from './defaults.ts';
import type { SpecFolder } from './files.ts';
import { unknownKeyHint } from './keys.ts';
import { LAYER_KEYS, type LayerKey } from './layer-keys.ts';
import type { SpecProblems } from './problems.ts';
import type { LayerBlock } from './suite.ts';
import { checkValue, isBroken } from './value-check.ts';
import { fitTexts } from './variables.ts';

/**
 * A checked layer block: its content merged with the defaults, and whether any of it gives a
 * verdict.
 */
export interface CheckedBlock {
  /** Sorted by key, so that equivalent blocks are serialized alike. */
  readonly entries: readonly YamlEntry[];
  readonly values: LayerBlock;
  readonly hasChecks: boolean;
}

interface CheckedValue {
  readonly isValid: boolean;
  readonly value: unknown;
}

/** Maximum nesting depth of combinators. */
const MAX_DEPTH = 8;

const noChecksIn = (parent: string): Problem => ({
  code: 'SPEC_CANNOT_FAIL',
  message: `this block of "${parent}" checks nothing`,
  hint: 'write at least one check of the layer in it',
});

/**
 * Checks layer blocks key by key. An entry that several queries share by defaults or rows is
 * checked once.
 */
export class LayerBlockChecker {
  readonly #problems: SpecProblems;
  readonly #folder: SpecFolder;
  readonly #defaults = new Map<
    Layer,
    { readonly node: YamlMap; readonly entries: readonly YamlEntry[] }
  >();
  readonly #blocks = new Map<Layer, CheckedBlock>();
  /** Entries of `defaults`, and entries that are equal for every row of a query. */
  readonly #shared = new WeakMap<YamlEntry, CheckedValue>();
  /** Shared values that were inspected and do not depend on their siblings. */
  readonly #inspected = new WeakSet<CheckedValue>();
  /** Inherited values that apply to some query, and those that apply to none so far. */
  readonly #fits = new Set<YamlEntry>();
  readonly #unfit = new Map<YamlEntry, Problem>();

  constructor(problems: SpecProblems, folder: SpecFolder) {
    this.#problems = problems;
    this.#folder = folder;
  }

  /**
   * Checks a query's entries with the inherited ones. `node` is the defaults' node if the query has
   * none.
   */
  check(layer: Layer, node: YamlMap): CheckedBlock {
    const defaults = this.#defaults.get(layer);
    if (node === defaults?.node) {
      const before = this.#blocks.get(layer);
      if (before !== undefined) return before;
      const block = this.checkMerged(layer, defaults.entries);
      this.#blocks.set(layer, block);
      return block;
    }
    return this.checkMerged(layer, this.merged(layer, node));
  }

  /** A query's entries merged over the inherited ones. */
  merged(layer: Layer, node: YamlMap): readonly YamlEntry[] {
    const defaults = this.#defaults.get(layer);
    if (node === defaults?.node) return defaults.entries;
    return overlay(defaults?.entries ?? [], node, meetDeep);
  }

  /** Checks merged entries. Entries that are equal for every row are read once. */
  checkMerged(
    layer: Layer,
    entries: readonly YamlEntry[],
    isConstant: (entry: YamlEntry) => boolean = () => false,
  ): CheckedBlock {
    const defaults = this.#defaults.get(layer)?.node.entries;
    const values: Record<string, unknown> = {};
    const inspected: { key: LayerKey; entry: YamlEntry; checked: CheckedValue }[] = [];
    let hasChecks = false;
    for (const entry of entries) {
      const key = this.#known(layer, entry);
      // A misspelled check counts as one, because its own message is enough.
      hasChecks ||= key?.isSetting !== true;
      if (key === undefined) continue;
      const isShared = isConstant(entry) || defaults?.get(entry.key) === entry;
      const checked = isShared ? this.#readOnce(key, entry) : this.#read(key, entry);
      setOwn(values, key.key, checked.value);
      if (checked.isValid && key.inspect !== undefined && !this.#inspected.has(checked))
        inspected.push({ key, entry, checked });
    }
    const unmet = new Set<YamlEntry>();
    for (const { key, entry, checked } of inspected) {
      const isInherited = defaults?.get(entry.key) === entry;
      const problems = this.#problems.count;
      if (!this.#inspect(key, entry, checked.value, values, isInherited)) unmet.add(entry);
      // A function with one parameter ignores the siblings, so one call covers every query with the
      // value.
      const isAlone = key.inspect!.length < 2;
      if (isAlone && (isInherited || this.#problems.count === problems))
        this.#inspected.add(checked);
    }
    // An inherited limit that does not apply here is for other queries.
    for (const { key } of unmet) delete values[key];
    return {
      entries: unmet.size === 0 ? entries : entries.filter((entry) => !unmet.has(entry)),
      values,
      hasChecks,
    };
  }

  /** A block without inheritance, as in a turn. */
  checkAlone(layer: Layer, block: YamlMap, parent: string): LayerBlock {
    return this.#nested({ layer, key: parent }, block, 0);
  }

  /** A block of `defaults`, whose maps a query may complete. */
  checkPartial(layer: Layer, node: YamlMap, isOpen: (entry: YamlEntry) => boolean): void {
    this.#defaults.set(layer, { node, entries: sortedEntries(node) });
    for (const entry of node.entries.values()) {
      const key = this.#known(layer, entry);
      if (key === undefined || isOpen(entry)) continue;
      if (key.blocks !== undefined) this.#read(key, entry);
      else checkValue(entry, key.partialSchema ?? key.schema, this.#problems);
    }
  }

  #known(layer: Layer, entry: YamlEntry): LayerKey | undefined {
    const key = LAYER_KEYS[layer].get(entry.key);
    if (key === undefined) {
      this.#problems.add(keyPlace(entry), {
        code: 'SPEC_UNKNOWN_KEY',
        message: `"${layer}" has no key "${entry.key}"`,
        hint: unknownKeyHint(entry.key, [...LAYER_KEYS[layer].keys()]),
      });
    }
    return key;
  }

  #readOnce(key: LayerKey, entry: YamlEntry): CheckedValue {
    let checked = this.#shared.get(entry);
    if (checked === undefined) {
      checked = this.#read(key, entry);
      this.#shared.set(entry, checked);
    }
    return checked;
  }

  #read(key: LayerKey, entry: YamlEntry, depth = 0): CheckedValue {
    const value = toPlain(entry.value);
    const isTyped = checkValue(entry, key.schema, this.#problems, value);
    if (key.blocks === undefined || !isTyped) return { isValid: isTyped, value };
    return this.#readBlocks(key, entry, depth);
  }

  /** The blocks in a combinator are checked like any other. */
  #readBlocks(key: LayerKey, entry: YamlEntry, depth: number): CheckedValue {
    const problems = this.#problems.count;
    const { value: node } = entry;
    if (depth >= MAX_DEPTH) {
      this.#problems.add(keyPlace(entry), {
        code: 'SPEC_TOO_LARGE',
        message: `"${entry.key}" is inside ${MAX_DEPTH} others, and deeper ones are not read`,
        hint: 'say it with fewer levels, or as an expression (expr)',
      });
      return { isValid: false, value: toPlain(node) };
    }
    const nodes = node.kind === 'seq' ? node.items : [node];
    if (nodes.length === 0) this.#problems.add(node, emptyListIssue(entry.key));
    const blocks = nodes.map((item) =>
      item.kind === 'map' ? this.#nested(key, item, depth + 1) : toPlain(item),
    );
    return {
      isValid: this.#problems.count === problems,
      value: key.blocks === 'one' ? blocks[0] : blocks,
    };
  }

  #nested(
    { layer, key: parent }: Pick<LayerKey, 'layer' | 'key'>,
    block: YamlMap,
    depth: number,
  ): LayerBlock {
    const values: Record<string, unknown> = {};
    const inspected: { key: LayerKey; entry: YamlEntry }[] = [];
    let hasChecks = false;
    for (const written of block.entries.values()) {
      const key = this.#known(layer, written);
      hasChecks ||= key?.isSetting !== true;
      if (key === undefined) continue;
      // A block with the values of a row may contain text of a CSV file.
      const entry = { ...written, value: fitTexts(key.schema, written.value) };
      const checked = this.#read(key, entry, depth);
      setOwn(values, key.key, checked.value);
      if (checked.isValid && key.inspect !== undefined) inspected.push({ key, entry });
    }
    for (const { key, entry } of inspected)
      this.#inspect(key, entry, values[key.key], values, false);
    if (!hasChecks) this.#problems.add(block, noChecksIn(parent));
    return values;
  }

  /**
   * Reports problems of a value. False if it is inherited and needs a key that this query lacks.
   */
  #inspect(
    key: LayerKey,
    entry: YamlEntry,
    value: unknown,
    siblings: LayerBlock,
    isInherited: boolean,
  ): boolean {
    const issues = key.inspect?.(value, siblings, this.#folder) ?? [];
    const needed = isInherited ? issues.find(({ code }) => code === 'SPEC_NEEDS_KEY') : undefined;
    if (needed !== undefined) {
      if (!this.#fits.has(entry) && !this.#unfit.has(entry)) this.#unfit.set(entry, needed);
      return false;
    }
    if (isInherited) {
      this.#fits.add(entry);
      this.#unfit.delete(entry);
    }
    for (const { path = [], part, offset, severity, code, message, hint } of issues) {
      const place = path.length === 0 ? entry.value : placeAt(entry.value, path, part);
      const exact = offset === undefined ? place : placeInside(place as YamlNode, offset);
      if (!isBroken(entry.value)) this.#problems.add(exact, { severity, code, message, hint });
    }
    return true;
  }

  /** Called after the last query: a default that applies to no query is an error. */
  finish(): void {
    for (const [entry, { severity, code, message, hint }] of this.#unfit)
      this.#problems.add(entry.value, {
        severity,
        code,
        message: `${message}, and no query has it`,
        hint,
      });
  }
}
