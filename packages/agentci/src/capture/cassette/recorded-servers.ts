import { isUnnamed, isUnnamedLocal } from '../upstreams.ts';
import type { Cassette } from './cassette.ts';

/**
 * Servers that agents name by their addresses. A server of this machine may have another port than when it was recorded, so
 * one that is not known stands for the recorded one that has the answer, where only one has. Elsewhere another address is
 * another server, apart from one that the user had set: each machine may have its own.
 */
export class RecordedServers {
  readonly #unnamed: ReadonlySet<string>;
  /** The one provider that was recorded at an address of the user's own. */
  readonly #own: readonly string[];
  /** By the address that the user had set: the provider. */
  readonly #at = new Map<string, string>();
  /** By the address that was asked: the server that it turned out to be. */
  readonly #found = new Map<string, string>();

  constructor(cassette: Pick<Cassette, 'entries' | 'providers'> | undefined) {
    const { entries = [], providers = {} } = cassette ?? {};
    this.#unnamed = new Set(entries.map(({ provider }) => provider).filter(isUnnamed));
    const own = Object.keys(providers).filter((name) => providers[name]?.set === true);
    this.#own = own.length === 1 ? own : [];
    for (const name of own) if (providers[name]?.at !== undefined) this.#at.set(`@${providers[name].at}`, name);
  }

  /** The recorded name of the server that was asked. `has` says whether the request has an answer under a name. */
  nameOf(asked: string, has: (name: string) => boolean): string {
    if (!isUnnamed(asked)) return asked;
    const before = this.#found.get(asked) ?? this.#at.get(asked);
    if (before !== undefined) return before;
    if (this.#unnamed.has(asked)) {
      this.#found.set(asked, asked);
      return asked;
    }
    const taken = new Set(this.#found.values());
    const free = isUnnamedLocal(asked)
      ? [...this.#unnamed].filter((name) => isUnnamedLocal(name) && !taken.has(name))
      : [];
    const candidates = [...this.#own, ...free];
    const fitting = candidates.filter(has);
    const [only] = fitting.length === 1 ? fitting : [];
    if (only !== undefined && isUnnamed(only)) this.#found.set(asked, only);
    // Without an answer, a request is compared with what was recorded of the only server that it can be meant for.
    return only ?? (candidates.length === 1 ? candidates[0]! : asked);
  }
}
