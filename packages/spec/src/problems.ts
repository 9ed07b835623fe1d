import type { Problem } from '@agentci/lib/problems';
import { Problems } from '@agentci/lib/problems';
import type { YamlPlace } from '@agentci/lib/yaml';

/** Where a problem of a text with variables is: at the value, not only at the text. Undefined: as it is. */
export type Relocate = (
  place: YamlPlace,
  problem: Problem,
) => { place: YamlPlace; problem: Problem } | 'enough' | undefined;

/** What is wrong with a spec. */
export class SpecProblems extends Problems {
  #relocate: Relocate | undefined;
  #dropped = 0;

  constructor() {
    super('SPEC_TOO_MANY');
  }

  override add(place: YamlPlace, problem: Problem): void {
    const moved = this.#relocate?.(place, problem);
    if (moved === 'enough') this.#dropped++;
    else if (moved === undefined) super.add(place, problem);
    else super.add(moved.place, moved.problem);
  }

  /** A value that was found wrong is not taken for a good one because its problem was not worth telling again. */
  override get count(): number {
    return super.count + this.#dropped;
  }

  /** While `read` runs, problems are told where their values come from. */
  within<T>(relocate: Relocate, read: () => T): T {
    this.#relocate = relocate;
    try {
      return read();
    } finally {
      this.#relocate = undefined;
    }
  }
}
