import { compileRegex } from '@agentci/lib/regex';
import type { ScriptEntry } from '@agentci/spec';

export type UserMove =
  | { readonly kind: 'say'; readonly message: string }
  | { readonly kind: 'done' };

/** A user who says what the script says. Entries with `when` are tried first, in order; the others are a queue. */
export class ScriptUser {
  readonly #entries: readonly ScriptEntry[];
  readonly #said: number[];

  constructor(entries: readonly ScriptEntry[]) {
    this.#entries = entries;
    this.#said = entries.map(() => 0);
  }

  /** What the user says to an answer. Throws `RegexTimeout` where it cannot be told whether a `when` applies. */
  next(answer: string): UserMove {
    const at =
      this.#reaction(answer) ??
      this.#entries.findIndex(({ when }, i) => when === undefined && this.#said[i] === 0);
    const entry = this.#entries[at];
    if (entry === undefined) return { kind: 'done' };
    this.#said[at]!++;
    return { kind: 'say', message: entry.say };
  }

  #reaction(answer: string): number | undefined {
    for (const [i, { when, times = 1 }] of this.#entries.entries()) {
      if (when === undefined || this.#said[i]! >= times) continue;
      const compiled = compileRegex(when);
      // A pattern that does not compile was refused with the spec.
      if (compiled.ok && compiled.regex.test(answer)) return i;
    }
    return undefined;
  }

  /** What was never said. */
  unused(): readonly ScriptEntry[] {
    return this.#entries.filter((_, i) => this.#said[i] === 0);
  }
}
