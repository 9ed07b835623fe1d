import type { YamlNode } from './yaml-node.ts';
import { brokenScalar, type YamlText } from './yaml-scalar.ts';

export const MAX_DEPTH = 100;
/** Maximum nodes that aliases may add to a document. 64 characters of text count as one node. */
const MAX_ALIAS_WEIGHT = 1_000_000;

/** A node with its weight and nesting depth. */
export interface Anchored {
  readonly node: YamlNode;
  readonly weight: number;
  readonly height: number;
}

/**
 * The anchors of a document. Aliases become shared nodes, with limits on repetition and nesting.
 */
export class YamlAnchors {
  readonly #of: YamlText;
  readonly #known = new Map<string, Anchored>();
  readonly #open = new Set<string>();
  #aliasWeight = 0;
  /** The aliases exceed the limit, and reading stops. */
  isBomb = false;

  constructor(of: YamlText) {
    this.#of = of;
  }

  /** Opens an anchored value. Until it is closed, an alias to it would contain itself. */
  open(name: string): void {
    this.#open.add(name);
  }

  close(name: string, anchored: Anchored): void {
    this.#open.delete(name);
    this.#known.set(name, anchored);
  }

  /** The target of an alias at `start`, `depth` levels deep. A broken node if it cannot be used. */
  resolve(name: string, start: number, depth: number): Anchored {
    const { source, report } = this.#of;
    const broken: Anchored = { node: brokenScalar(source, start), weight: 0, height: 0 };
    if (this.#open.has(name)) {
      report(
        start,
        'YAML_SYNTAX',
        `*${name} is inside the value it names`,
        'a value cannot contain itself',
      );
      return broken;
    }
    const target = this.#known.get(name);
    if (target === undefined) {
      report(
        start,
        'YAML_SYNTAX',
        `*${name} is an alias in YAML, and no &${name} comes before it`,
        `if you mean the text, quote it: "*${name}"`,
      );
      return broken;
    }
    this.#aliasWeight += target.weight;
    if (this.#aliasWeight > MAX_ALIAS_WEIGHT) {
      report(
        start,
        'YAML_TOO_LARGE',
        `aliases repeat more than ${MAX_ALIAS_WEIGHT} values`,
        'write the values once',
      );
      this.isBomb = true;
    } else if (depth + target.height > MAX_DEPTH) {
      report(start, 'YAML_TOO_LARGE', `*${name} nests deeper than ${MAX_DEPTH} levels`);
      return { ...broken, weight: target.weight };
    }
    return target;
  }
}
