import type { Problem } from '../kit/problem.ts';
import type { YamlPlace } from '../kit/yaml-node.ts';

/** Columns that no query uses. One file may serve several queries, and then a column is told once, if none of them uses it. */
export class UnusedColumns {
  readonly #used = new Set<string>();
  readonly #unused = new Map<string, { readonly place: YamlPlace; readonly problem: Problem }>();

  /** A query uses the column. */
  see(place: YamlPlace): void {
    this.#used.add(keyOf(place));
  }

  add(place: YamlPlace, problem: Problem): void {
    if (!this.#unused.has(keyOf(place))) this.#unused.set(keyOf(place), { place, problem });
  }

  found(): { readonly place: YamlPlace; readonly problem: Problem }[] {
    return [...this.#unused].flatMap(([key, found]) => (this.#used.has(key) ? [] : [found]));
  }
}

const keyOf = ({ source, start }: YamlPlace): string => `${start} ${source.file}`;
