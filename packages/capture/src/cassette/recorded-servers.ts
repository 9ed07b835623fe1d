import type { Exchange } from '../exchange.ts';
import { isUnnamed, isUnnamedLocal, unnamedUpstream } from '../upstreams.ts';
import type { Cassette, CassetteProvider } from './cassette.ts';

/**
 * Servers that agents name by their addresses. A server of this machine may have another port than when it was recorded, so
 * one that is not known stands for the recorded one that has the answer, where only one has. Elsewhere another address is
 * another server, apart from one that the user had set: each machine may have its own.
 */
export class RecordedServers {
  readonly #recorded: ReadonlySet<string>;
  readonly #unnamed: ReadonlySet<string>;
  /** The one provider that was recorded at an address of the user's own. */
  readonly #own: readonly string[];
  /** All of them: variables of several providers can name one gateway, and which of them comes first may change. */
  readonly #gateways: ReadonlySet<string>;
  /** By the address that the user had set: the provider. */
  readonly #at = new Map<string, string>();
  /** By the address that was asked: the server that it turned out to be. */
  readonly #found = new Map<string, string>();
  /** By the address that was asked: the provider at an address of the user's own that had an answer. */
  readonly #answered = new Map<string, string>();

  constructor(cassette: Pick<Cassette, 'entries' | 'providers'> | undefined) {
    const { entries = [], providers = {} } = cassette ?? {};
    this.#recorded = new Set(entries.map(({ provider }) => provider));
    this.#unnamed = new Set([...this.#recorded].filter(isUnnamed));
    const own = Object.keys(providers).filter((name) => providers[name]?.set === true);
    this.#own = own.length === 1 ? own : [];
    this.#gateways = new Set(own.filter((name) => this.#recorded.has(name)));
    for (const name of own)
      if (providers[name]?.at !== undefined) this.#at.set(`@${providers[name].at}`, name);
  }

  /** The recorded name of the server that was asked, at `uri`. `has` says whether the request has an answer under a name. */
  nameOf(asked: string, has: (name: string) => boolean, uri?: string): string {
    if (!isUnnamed(asked) && !has(asked)) {
      const others = [...this.#gateways].filter((name) => name !== asked && has(name));
      if (others.length === 1) return others[0]!;
    }
    const twin = this.#twinOf(asked, uri);
    if (twin !== undefined) {
      if (this.#recorded.has(asked) && has(asked)) return asked;
      return has(twin) || !this.#recorded.has(asked) ? twin : asked;
    }
    if (!isUnnamed(asked)) return asked;
    const before = this.#found.get(asked);
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
    if (only !== undefined) (isUnnamed(only) ? this.#found : this.#answered).set(asked, only);
    // Without an answer, a request is compared with what was recorded of the only server that it can be meant for.
    return only ?? (candidates.length === 1 ? candidates[0]! : asked);
  }

  /** The other name of a recorded server: that of its provider, where a variable led there, and its address. */
  #twinOf(asked: string, uri: string | undefined): string | undefined {
    if (isUnnamed(asked)) return this.#at.get(asked);
    if (uri === undefined || this.#unnamed.size === 0) return undefined;
    const address = unnamedUpstream(new URL(uri)).provider;
    return this.#unnamed.has(address) ? address : undefined;
  }

  /** An answer was given in the order of the recording: its server is the recorded one, so no other is taken for it. */
  noteUse(provider: string): void {
    if (isUnnamed(provider)) this.#found.set(provider, provider);
  }

  /**
   * The name under which what a server has just said is stored: that of the recorded server that it turned out to be. Under
   * another name it would be a server of its own from then on, which what was recorded before is not known of.
   */
  nameToStore(asked: string): string {
    if (this.#recorded.has(asked)) return asked;
    return this.#found.get(asked) ?? this.#at.get(asked) ?? this.#answered.get(asked) ?? asked;
  }

  /** What is known of the servers that were asked, by the names under which they are stored. */
  servers(exchanges: readonly Exchange[]): Readonly<Record<string, CassetteProvider>> {
    const servers: Record<string, CassetteProvider> = {};
    for (const { provider, uri } of exchanges) {
      const name = this.nameToStore(provider);
      if (!isUnnamed(name)) continue;
      const scheme = uri.startsWith('https:') ? 'https' : 'http';
      // One name may be two servers where neither address has a port; what was encrypted stays so.
      if (servers[name]?.scheme !== 'https') servers[name] = { scheme };
    }
    return servers;
  }
}
