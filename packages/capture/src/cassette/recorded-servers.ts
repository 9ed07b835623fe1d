import type { Exchange } from '../exchange.ts';
import { isUnnamed, isUnnamedLocal, unnamedUpstream } from '../upstreams.ts';
import type { Cassette, CassetteProvider } from './cassette.ts';

/**
 * Servers that agents address by URL. A local server may have another port than in the recording,
 * so an unknown one is matched with the recorded one that has the answer, if exactly one has.
 * Elsewhere another address is another server, except for addresses set by the user, which may
 * differ per machine.
 */
export class RecordedServers {
  readonly #recorded: ReadonlySet<string>;
  readonly #unnamed: ReadonlySet<string>;
  /** The providers recorded at a custom address. */
  readonly #own: readonly string[];
  /**
   * All of them: variables of several providers can name one gateway, and their order may change.
   */
  readonly #gateways: ReadonlySet<string>;
  /** Provider by the address that the user had set. */
  readonly #at = new Map<string, string>();
  /** Identified server by requested address. */
  readonly #found = new Map<string, string>();
  /** Provider at a custom address that had an answer, by requested address. */
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

  /**
   * The recorded name of the server requested at `uri`. `has` tests whether a request has an answer
   * under a name.
   */
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
    // Without an answer, a request is compared with the recording of the only possible server.
    return only ?? (candidates.length === 1 ? candidates[0]! : asked);
  }

  /**
   * The other name of a recorded server: its provider if a variable pointed there, and its address.
   */
  #twinOf(asked: string, uri: string | undefined): string | undefined {
    if (isUnnamed(asked)) return this.#at.get(asked);
    if (uri === undefined || this.#unnamed.size === 0) return undefined;
    const address = unnamedUpstream(new URL(uri)).provider;
    return this.#unnamed.has(address) ? address : undefined;
  }

  /**
   * Notes that an answer was served in the order of the recording. Its server is then identified
   * and cannot match another one.
   */
  noteUse(provider: string): void {
    if (isUnnamed(provider)) this.#found.set(provider, provider);
  }

  /**
   * The name under which a new reply of a server is stored: that of the identified recorded server.
   * Under another name it would become a separate server without the earlier recordings.
   */
  nameToStore(asked: string): string {
    if (this.#recorded.has(asked)) return asked;
    return this.#found.get(asked) ?? this.#at.get(asked) ?? this.#answered.get(asked) ?? asked;
  }

  /** The settings of the requested servers, by stored name. */
  servers(exchanges: readonly Exchange[]): Readonly<Record<string, CassetteProvider>> {
    const servers: Record<string, CassetteProvider> = {};
    for (const { provider, uri } of exchanges) {
      const name = this.nameToStore(provider);
      if (!isUnnamed(name)) continue;
      const scheme = uri.startsWith('https:') ? 'https' : 'http';
      // One name may be two servers if neither address has a port. HTTPS wins.
      if (servers[name]?.scheme !== 'https') servers[name] = { scheme };
    }
    return servers;
  }
}
