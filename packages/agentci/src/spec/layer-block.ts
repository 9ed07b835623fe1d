import { placeAt, setOwn, toPlain, type YamlEntry, type YamlMap, type YamlNode } from '../kit/yaml-node.ts';
import type { Layer } from '../results/run-result.ts';
import { unknownKeyHint } from './known-keys.ts';
import { LAYER_KEYS, type LayerKey } from './layer-keys.ts';
import type { Problems } from './problems.ts';
import type { LayerBlock } from './suite.ts';
import { checkValue, isBroken } from './value-check.ts';

/** A layer block after checking: its values as written, and whether any of them gives a verdict. */
export interface CheckedBlock {
  readonly values: LayerBlock;
  readonly hasChecks: boolean;
}

interface CheckedValue {
  readonly key: LayerKey;
  readonly isValid: boolean;
  readonly value: unknown;
}

/** Checks layer blocks key by key, and a value that many queries inherit only once. */
export class LayerBlockChecker {
  readonly #problems: Problems;
  /** Nodes of the defaults, which many queries share; only for them is an outcome worth keeping. */
  readonly #shared = new Set<YamlNode>();
  readonly #blocks = new Map<YamlMap, CheckedBlock>();
  readonly #values = new Map<YamlNode, CheckedValue>();

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  check(layer: Layer, node: YamlMap): CheckedBlock {
    const isShared = this.#shared.has(node);
    const before = isShared ? this.#blocks.get(node) : undefined;
    if (before !== undefined) return before;
    const values: Record<string, unknown> = {};
    const inspected: { key: LayerKey; entry: YamlEntry; value: unknown }[] = [];
    let hasChecks = false;
    for (const entry of node.entries.values()) {
      const key = this.#known(layer, entry);
      // A misspelt check was meant to be one: its own message is enough.
      hasChecks ||= key?.isSetting !== true;
      if (key === undefined) continue;
      const { isValid, value } = this.#value(key, entry);
      setOwn(values, key.key, value);
      if (isValid && key.inspect !== undefined) inspected.push({ key, entry, value });
    }
    for (const { key, entry, value } of inspected) this.#inspect(key, entry, value, values);
    const block = { values, hasChecks };
    if (isShared) this.#blocks.set(node, block);
    return block;
  }

  /** A block of `defaults`, whose maps a query may still complete. */
  checkPartial(layer: Layer, node: YamlMap): void {
    this.#shared.add(node);
    for (const entry of node.entries.values()) {
      this.#shared.add(entry.value);
      const key = this.#known(layer, entry);
      if (key !== undefined) checkValue(entry, key.partialSchema ?? key.schema, this.#problems);
    }
  }

  #known(layer: Layer, entry: YamlEntry): LayerKey | undefined {
    const key = LAYER_KEYS[layer].get(entry.key);
    if (key === undefined) {
      this.#problems.add(
        { source: entry.keySource, start: entry.keyStart },
        {
          code: 'SPEC_UNKNOWN_KEY',
          message: `"${layer}" has no key "${entry.key}"`,
          hint: unknownKeyHint(entry.key, [...LAYER_KEYS[layer].keys()]),
        },
      );
    }
    return key;
  }

  #value(key: LayerKey, entry: YamlEntry): CheckedValue {
    const isShared = this.#shared.has(entry.value);
    const before = isShared ? this.#values.get(entry.value) : undefined;
    if (before?.key === key) return before;
    const checked = { key, isValid: checkValue(entry, key.schema, this.#problems), value: toPlain(entry.value) };
    if (isShared) this.#values.set(entry.value, checked);
    return checked;
  }

  #inspect(key: LayerKey, entry: YamlEntry, value: unknown, siblings: LayerBlock): void {
    for (const { path = [], severity, code, message, hint } of key.inspect?.(value, siblings) ?? []) {
      const place = path.length === 0 ? entry.value : placeAt(entry.value, path);
      if (!isBroken(entry.value)) this.#problems.add(place, { severity, code, message, hint });
    }
  }
}
