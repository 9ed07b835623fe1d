import type { YamlEntry, YamlMap, YamlNode, YamlSeq, YamlSource } from './yaml-node.ts';
import type { TextPart } from './yaml-parts.ts';

/** `key: {…}` or `key: […]`, whole on its line, without anything that could tie it to another place. */
const ONE_LINE = /^ *(?:- )?[\w$-]+: ([[{][^&*!\n]{20,}[\]}])$/gm;

type Collection = YamlMap | YamlSeq;

/**
 * Generated files repeat the same one-line list or map thousands of times. It is parsed where it is met first; later ones
 * are blanked out before parsing and put back as copies that know their own place.
 * Whether the text really was a value shows afterwards: `isSettled` says so.
 */
export class RepeatedValues {
  /** By text: where it was met first, and what it was read as. */
  readonly #firsts = new Map<string, { node?: Collection }>();
  readonly #awaited = new Map<number, string>();
  readonly #blanked = new Map<number, string>();

  /** The same text, with values that were met before blanked out. */
  blank({ text, base }: TextPart): TextPart {
    const pieces: string[] = [];
    let end = 0;
    for (const match of text.matchAll(ONE_LINE)) {
      const value = match[1]!;
      const at = match.index + match[0].length - value.length;
      if (!this.#firsts.has(value)) {
        this.#firsts.set(value, {});
        this.#awaited.set(base + at, value);
        continue;
      }
      this.#blanked.set(base + at, value);
      pieces.push(text.slice(end, at), '~', ' '.repeat(value.length - 1));
      end = at + value.length;
    }
    return pieces.length === 0 ? { text, base } : { text: pieces.join('') + text.slice(end), base };
  }

  /** Takes note of a list or map that was read. */
  noteRead(node: Collection): void {
    const text = this.#awaited.get(node.start);
    if (text === undefined) return;
    this.#awaited.delete(node.start);
    this.#firsts.get(text)!.node = node;
  }

  /** What stood at a place before it was blanked out. */
  take(start: number): Collection | undefined {
    const text = this.#blanked.get(start);
    const first = text === undefined ? undefined : this.#firsts.get(text)?.node;
    if (first === undefined || first.end < 0) return undefined;
    this.#blanked.delete(start);
    return moved(first, start - first.start) as Collection;
  }

  /** Whether each blanked place was met as a value again: otherwise it was inside a text or a comment. */
  get isSettled(): boolean {
    return this.#blanked.size === 0;
  }
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

function moved(node: YamlNode, by: number): YamlNode {
  if (node.kind === 'scalar') return { ...node, start: node.start + by };
  return node.kind === 'seq' ? new MovedSeq(node, by) : new MovedMap(node, by);
}
