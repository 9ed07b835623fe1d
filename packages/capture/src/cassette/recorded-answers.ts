import { stringifyExact } from '@agentci/lib/json';
import {
  type Canonical,
  type MatchRules,
  matchRules,
  type RawRequest,
  type StoredRequest,
} from './canonical.ts';
import type { CassetteEntry } from './cassette.ts';
import { type Difference, differences, likeness } from './difference.ts';
import { SCRUB_NAMES } from './scrub.ts';

/** An answer for a request. */
export interface Match {
  readonly entry: CassetteEntry;
  /** It matches only because of `scrub`. */
  readonly isScrubbed: boolean;
}

/** The reason for a missing answer. */
export interface Miss {
  readonly request: StoredRequest;
  /** The most similar entry. Absent if the cassette is empty. */
  readonly nearest?: CassetteEntry;
  /** The first difference from it, and the causes of the others. */
  readonly first?: Difference;
  readonly others: readonly Difference['cause'][];
  /** Number of recordings of the same request, all of them used. */
  readonly recordedTimes?: number;
  /** Names to add to `scrub` so that the request matches. */
  readonly scrub?: readonly string[];
}

/** An entry, and whether it was used. */
export interface QueuedAnswer {
  readonly entry: CassetteEntry;
  readonly canonical: Canonical;
  isUsed: boolean;
}

/**
 * The answers of one cassette during one run. The nth of several matching requests gets the nth recorded answer.
 */
export class RecordedAnswers {
  readonly #rules: MatchRules;
  readonly #repeatsLast: boolean;
  readonly #queued: readonly QueuedAnswer[];
  readonly #byKey = new Map<string, QueuedAnswer[]>();

  constructor(entries: readonly CassetteEntry[], rules: MatchRules, { repeatsLast = false } = {}) {
    this.#rules = rules;
    this.#repeatsLast = repeatsLast;
    this.#queued = entries.map((entry) => ({
      entry,
      canonical: rules.canonical(entry),
      isUsed: false,
    }));
    for (const queued of this.#queued) {
      const known = this.#byKey.get(queued.canonical.key);
      if (known === undefined) this.#byKey.set(queued.canonical.key, [queued]);
      else known.push(queued);
    }
  }

  get size(): number {
    return this.#queued.length;
  }

  /** Whether there is an answer to this request, used or not. */
  has(request: StoredRequest): boolean {
    return this.#byKey.has(this.#rules.canonical(request).key);
  }

  /** The next answer to this request. With `keeps` it stays for the next time. */
  take(request: StoredRequest, { keeps = false } = {}): Match | undefined {
    const { key } = this.#rules.canonical(request);
    const queue = this.#byKey.get(key) ?? [];
    const queued =
      queue.find(({ isUsed }) => !isUsed) ?? (this.#repeatsLast ? queue.at(-1) : undefined);
    if (queued === undefined) return undefined;
    if (!keeps) queued.isUsed = true;
    const isScrubbed =
      !this.#rules.scrub.isEmpty &&
      this.#rules.exactKey(queued.entry) !== this.#rules.exactKey(request);
    return { entry: queued.entry, isScrubbed };
  }

  /**
   * The next entry, if the request is identical byte by byte. Most agents repeat their requests
   * exactly, which saves the comparison by content.
   */
  nextSame({ provider, method, path, body, encoding }: RawRequest): QueuedAnswer | undefined {
    const queued = this.#queued.find(({ isUsed }) => !isUsed);
    if (queued === undefined || encoding !== undefined) return undefined;
    const { entry } = queued;
    if (entry.provider !== provider || entry.method !== method || entry.path !== path)
      return undefined;
    if (entry.body.kind !== 'json' || !Buffer.from(stringifyExact(entry.body.value)).equals(body))
      return undefined;
    return queued;
  }

  /** Entries that no request used. */
  unused(): readonly CassetteEntry[] {
    return this.#queued.filter(({ isUsed }) => !isUsed).map(({ entry }) => entry);
  }

  explain(request: StoredRequest): Miss {
    const asked = this.#rules.canonical(request);
    const same = this.#byKey.get(asked.key);
    if (same !== undefined)
      return {
        request,
        nearest: same.at(-1)!.entry,
        first: { cause: 'repeat', recorded: same.length, asked: same.length + 1 },
        others: [],
        recordedTimes: same.length,
      };
    let nearest: QueuedAnswer | undefined;
    let best = Number.NEGATIVE_INFINITY;
    for (const queued of this.#queued) {
      const score = likeness(queued.canonical, asked) + (queued.isUsed ? 0 : 0.5);
      if (score > best) [nearest, best] = [queued, score];
    }
    if (nearest === undefined) return { request, others: [] };
    const [first, ...others] = differences(nearest.canonical, asked);
    const scrub = this.#scrubFor(request);
    return {
      request,
      nearest: nearest.entry,
      first,
      others: others.map(({ cause }) => cause),
      scrub,
    };
  }

  /** The smallest set of `scrub` patterns with which an unused entry would match. */
  #scrubFor(request: StoredRequest): readonly string[] | undefined {
    const { ignore, scrub } = this.#rules;
    const free = SCRUB_NAMES.filter((name) => !scrub.names.includes(name));
    for (const extra of [...free.map((name) => [name]), free]) {
      if (extra.length === 0) continue;
      const rules = matchRules({ ignore, scrub: [...scrub.names, ...extra] });
      const { key } = rules.canonical(request);
      const fits = this.#queued.find(
        ({ entry, isUsed }) => !isUsed && rules.canonical(entry).key === key,
      );
      if (fits === undefined) continue;
      if (extra.length === 1) return extra;
      // Only the necessary ones.
      return extra.filter((name) => {
        const fewer = matchRules({
          ignore,
          scrub: [...scrub.names, ...extra.filter((other) => other !== name)],
        });
        return fewer.canonical(request).key !== fewer.canonical(fits.entry).key;
      });
    }
    return undefined;
  }
}
