import type { YamlEntry, YamlMap, YamlNode, YamlSeq, YamlSource } from './yaml-node.ts';

/** A node as it would be so many characters further on in the same source, where the very same text is written again. */
export function moved(node: YamlNode, by: number): YamlNode {
  if (node.kind === 'scalar') return { ...node, start: node.start + by };
  return node.kind === 'seq' ? new MovedSeq(node, by) : new MovedMap(node, by);
}

/** A list at another place of its source. What is in it is copied when somebody looks. */
class MovedSeq implements YamlSeq {
  readonly kind = 'seq';
  readonly source: YamlSource;
  readonly start: number;
  readonly end: number;
  readonly #first: YamlSeq;

  constructor(first: YamlSeq, by: number) {
    this.source = first.source;
    this.start = first.start + by;
    this.end = first.end + by;
    this.#first = first;
  }

  get items(): readonly YamlNode[] {
    const by = this.start - this.#first.start;
    return this.#first.items.map((item) => moved(item, by));
  }
}

/** The same for a map. */
class MovedMap implements YamlMap {
  readonly kind = 'map';
  readonly source: YamlSource;
  readonly start: number;
  readonly end: number;
  readonly #first: YamlMap;

  constructor(first: YamlMap, by: number) {
    this.source = first.source;
    this.start = first.start + by;
    this.end = first.end + by;
    this.#first = first;
  }

  get entries(): ReadonlyMap<string, YamlEntry> {
    const by = this.start - this.#first.start;
    const entries = new Map<string, YamlEntry>();
    for (const [key, entry] of this.#first.entries) {
      entries.set(key, { ...entry, keyStart: entry.keyStart + by, value: moved(entry.value, by) });
    }
    return entries;
  }
}
