import type { YamlEntry, YamlMap, YamlNode, YamlSeq, YamlSource } from './yaml-node.ts';

/** A node as it would be so many characters further on in the same source, where the very same text is written again. */
export function moved(node: YamlNode, by: number): YamlNode {
  if (node.kind === 'scalar') return { ...node, start: node.start + by };
  return node.kind === 'seq' ? new MovedSeq(node, by) : new MovedMap(node, by);
}

/** What is in it is copied only when it is looked at: mostly the text alone tells what it is. */
abstract class Moved<N extends YamlMap | YamlSeq> {
  readonly source: YamlSource;
  readonly start: number;
  readonly end: number;
  protected readonly first: N;

  constructor(first: N, by: number) {
    this.source = first.source;
    this.start = first.start + by;
    this.end = first.end + by;
    this.first = first;
  }

  protected get by(): number {
    return this.start - this.first.start;
  }
}

class MovedSeq extends Moved<YamlSeq> implements YamlSeq {
  readonly kind = 'seq';

  get items(): readonly YamlNode[] {
    return this.first.items.map((item) => moved(item, this.by));
  }
}

class MovedMap extends Moved<YamlMap> implements YamlMap {
  readonly kind = 'map';

  get entries(): ReadonlyMap<string, YamlEntry> {
    const entries = new Map<string, YamlEntry>();
    for (const [key, entry] of this.first.entries) {
      entries.set(key, {
        ...entry,
        keyStart: entry.keyStart + this.by,
        value: moved(entry.value, this.by),
      });
    }
    return entries;
  }
}
