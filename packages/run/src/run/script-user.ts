import { compileRegex } from '@agentci/lib/regex';
import type { ScriptEntry } from '@agentci/spec';

export type UserMove =
  | { readonly kind: 'say'; readonly message: string }
  | { readonly kind: 'done' };

/**
 * Simulates a user from a script. Entries with `when` are tried first, in order. The others are a
 * queue.
 */
export class ScriptUser {
  readonly #entries: readonly ScriptEntry[];
  readonly #said: number[];

  constructor(entries: readonly ScriptEntry[]) {
    this.#entries = entries;
    this.#said = entries.map(() => 0);
  }

  /** The reply of the user to an answer. Throws `RegexTimeout` if a `when` pattern times out. */
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
      // The spec was rejected if a pattern does not compile.
      if (compiled.ok && compiled.regex.test(answer)) return i;
    }
    return undefined;
  }

  /** The entries that were never used. */
  unused(): readonly ScriptEntry[] {
    return this.#entries.filter((_, i) => this.#said[i] === 0);
  }
}
