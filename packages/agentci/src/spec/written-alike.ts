import {
  decidingText,
  type YamlNode,
  type YamlScalarValue,
  type YamlSource,
} from '../kit/yaml-node.ts';

/** Different texts kept for one key. A spec whose values all differ must not fill the memory with them. */
const MAX_KEPT = 256;

/**
 * Keeps what was made of a value for the values written exactly alike: generated specs repeat the same schema in
 * thousands of queries, and it has to be read and compiled once. Gives up where the first values are all different.
 */
export class WrittenAlike<T> {
  readonly #scalars = new Map<YamlScalarValue, T>();
  readonly #texts = new Map<string, T>();
  #source: YamlSource | undefined;
  #found = 0;

  /** What was made of an equal value before; else what `make` gives, kept if `isKept` says so. */
  get(node: YamlNode, make: () => T, isKept: (made: T) => boolean): T {
    // One file at a time: the same text may mean other files elsewhere, and specs seldom take values from many.
    if (this.#source !== node.source) {
      this.#source = node.source;
      this.#texts.clear();
    }
    const kept: Map<unknown, T> = node.kind === 'scalar' ? this.#scalars : this.#texts;
    const isHopeless = kept.size >= MAX_KEPT && this.#found === 0;
    let key: YamlScalarValue | undefined;
    if (isHopeless || isBroken(node)) key = undefined;
    else if (node.kind === 'scalar') key = node.value;
    else key = decidingText(node);
    const before = key === undefined ? undefined : kept.get(key);
    if (before !== undefined) {
      this.#found++;
      return before;
    }
    const made = make();
    if (key !== undefined && kept.size < MAX_KEPT && isKept(made)) kept.set(key, made);
    return made;
  }
}

const isBroken = (node: YamlNode): boolean => node.kind === 'scalar' && node.broken === true;
