import type { Problem } from '@agentci/lib/problems';
import { Problems } from '@agentci/lib/problems';
import type { YamlPlace } from '@agentci/lib/yaml';

/** Maps the position of a problem in a text with variables to the value. Undefined: unchanged. */
export type Relocate = (
  place: YamlPlace,
  problem: Problem,
) => { place: YamlPlace; problem: Problem } | 'enough' | undefined;

/** The problems of a spec. */
export class SpecProblems extends Problems {
  #relocate: Relocate | undefined;
  #dropped = 0;

  constructor() {
    super('SPEC_TOO_LARGE');
  }

  override add(place: YamlPlace, problem: Problem): void {
    const moved = this.#relocate?.(place, problem);
    if (moved === 'enough') this.#dropped++;
    else if (moved === undefined) super.add(place, problem);
    else super.add(moved.place, moved.problem);
  }

  /** A wrong value stays wrong even if its problem was suppressed as a repetition. */
  override get count(): number {
    return super.count + this.#dropped;
  }

  /** While `read` runs, problems are reported at the origin of their values. */
  within<T>(relocate: Relocate, read: () => T): T {
    this.#relocate = relocate;
    try {
      return read();
    } finally {
      this.#relocate = undefined;
    }
  }
}
