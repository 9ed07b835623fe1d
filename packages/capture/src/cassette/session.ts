import { plural } from '@agentci/lib/text';
import { type Broken, type Exchange, MISS_HEADER } from '../exchange.ts';
import type { Answer, ServedReply } from '../model/answer.ts';
import { askUsage } from '../model/ask-usage.ts';
import { type MatchRules, readRequest, type StoredRequest } from './canonical.ts';
import type { Cassette, CassetteEntry } from './cassette.ts';
import { missText } from './miss-text.ts';
import { recordEntries } from './record.ts';
import { type Match, type Miss, type QueuedAnswer, RecordedAnswers } from './recorded-answers.ts';
import { RecordedServers } from './recorded-servers.ts';

/** Extra time for an agent that hung up in the recording to do so again. */
const HANG_UP_MS = 1000;
const MAX_HANG_UP_MS = 30_000;

/** The reason why a broken call could not be compared. */
const UNANSWERED: Readonly<Partial<Record<Broken, string>>> = {
  client_abort: 'the agent ended or hung up before its request was whole',
  timeout: 'it was still open when the agent had ended',
  too_large: 'it is too large',
};

/**
 * The mode of a cassette: ask and store, answer and never ask, or answer known requests and ask for
 * the rest.
 */
export type CassetteMode = 'record' | 'replay' | 'auto';

export interface SessionOptions {
  readonly mode: CassetteMode;
  readonly rules: MatchRules;
  /** Keeps failed replies too. */
  readonly errors: boolean;
  /** Repeats the last answer to a request when all are used. */
  readonly repeatsLast: boolean;
  /** The existing cassette. */
  readonly cassette: Cassette | undefined;
  /** Name of the file in messages. */
  readonly file: string;
}

/** The numbers of one run with a cassette. */
export interface CassetteCounts {
  readonly hits: number;
  readonly misses: number;
  /** Number of hits that only `scrub` made possible. */
  readonly scrubbed: number;
  readonly unused: number;
  /** Number of calls sent to the provider. */
  readonly asked: number;
}

/** One run of one query with a cassette: answers the agent's calls from it, and keeps new ones. */
export class CassetteSession {
  readonly #options: SessionOptions;
  readonly #answers: RecordedAnswers;
  readonly #servers: RecordedServers;
  readonly #misses: string[] = [];
  readonly #causes: string[] = [];
  readonly #blocked = new Set<string>();
  readonly #altered = new Set<string>();
  #calls = 0;
  #hits = 0;
  #scrubbed = 0;
  #asked = 0;

  constructor(options: SessionOptions) {
    this.#options = options;
    const known = options.mode === 'record' ? [] : (options.cassette?.entries ?? []);
    this.#answers = new RecordedAnswers(known, options.rules, { repeatsLast: options.repeatsLast });
    this.#servers = new RecordedServers(options.cassette);
  }

  /** Answers a call, or leaves it to the upstream. */
  readonly answer: Answer = async (asked) => {
    this.#calls++;
    if (this.#options.mode === 'record') return undefined;
    const hit = (match: Match): ServedReply =>
      this.#hit(match, hidesUsage(match.entry, asked.route, asked.body));
    const same = this.#answers.nextSame(asked);
    if (same !== undefined) return hit(this.#use(same));
    const request = this.#addressed(readRequest(asked), asked.uri);
    const match = this.#answers.take(request);
    if (match !== undefined) return hit(match);
    if (this.#options.mode === 'auto') {
      this.#asked++;
      return undefined;
    }
    return this.#miss(request);
  };

  /** The request to the recorded server, which may have had another address. */
  #addressed(request: StoredRequest, uri: string): StoredRequest {
    const under = (provider: string): StoredRequest => ({ ...request, provider });
    const provider = this.#servers.nameOf(
      request.provider,
      (name) => this.#answers.has(under(name)),
      uri,
    );
    return provider === request.provider ? request : under(provider);
  }

  #use(queued: QueuedAnswer): Match {
    queued.isUsed = true;
    this.#servers.noteUse(queued.entry.provider);
    return { entry: queued.entry, isScrubbed: false };
  }

  #hit({ entry, isScrubbed }: Match, hides: boolean): ServedReply {
    this.#hits++;
    if (isScrubbed) this.#scrubbed++;
    for (const name of entry.scrubbed ?? []) this.#altered.add(name);
    return this.#replyOf(entry, hides);
  }

  #replyOf(entry: CassetteEntry, hides: boolean): ServedReply {
    const { i, status, headers, chunks, why, hungUpAfterS = 0 } = entry;
    const waitMs = Math.min(MAX_HANG_UP_MS, hungUpAfterS * 1000 + HANG_UP_MS);
    const onReadOn = (): void => {
      this.#misses.push(
        `the agent reads on past the end of exchange ${i} in ${this.#options.file}: the recorded agent hung up there, so the rest of the reply is not known`,
      );
    };
    return {
      served: 'cassette',
      recordedI: i,
      status,
      headers,
      chunks,
      hidesUsage: hides || undefined,
      cutOff: why === 'client_abort' ? { waitMs, onReadOn } : undefined,
    };
  }

  /**
   * Notes a refused connection that bypassed the front. A connection to a model is a call that the
   * cassette lacks.
   */
  readonly blocked = (host: string, isModel: boolean): void => {
    if (!isModel) this.#blocked.add(host);
    else this.#misses.push(`the agent tried to reach ${host} past the cassette`);
  };

  /**
   * Calls of a finished run that could not be answered, because they were truncated or too large to
   * compare.
   */
  noteUnanswered(exchanges: readonly Exchange[]): void {
    if (this.#options.mode !== 'replay') return;
    for (const { served, method, path = '', why, error } of exchanges) {
      if (served !== undefined && why !== 'timeout') continue;
      const reason = why === undefined ? error : (UNANSWERED[why] ?? error);
      this.#misses.push(
        `a call (${method} ${path.split('?')[0]}) could not be compared with ${this.#options.file}: ${reason ?? 'it was not answered'}`,
      );
    }
  }

  #miss(request: StoredRequest): ServedReply {
    const miss: Miss = this.#answers.explain(request);
    const text = missText(miss, { file: this.#options.file, call: this.#calls });
    this.#misses.push(text);
    if (miss.first !== undefined) this.#causes.push(miss.first.cause);
    return missReply(text);
  }

  /** Whether some recorded call was not made yet. */
  get expectsMore(): boolean {
    return this.#options.mode !== 'replay' || this.#answers.unused().length > 0;
  }

  /** Describes the first miss, and counts the others. */
  get missText(): string | undefined {
    const [first, ...more] = this.#misses;
    if (first === undefined) return undefined;
    return more.length === 0
      ? first
      : `${first} (and ${plural(more.length, 'more miss', 'more misses')} after it)`;
  }

  get causes(): readonly string[] {
    return this.#causes;
  }

  get blockedHosts(): readonly string[] {
    return [...this.#blocked].sort();
  }

  /** Credentials that were removed from stored replies. */
  get alteredBy(): readonly string[] {
    return [...this.#altered].sort();
  }

  get size(): number {
    return this.#answers.size;
  }

  unusedEntries(): readonly CassetteEntry[] {
    return this.#answers.unused();
  }

  counts(): CassetteCounts {
    const isRecording = this.#options.mode === 'record';
    return {
      hits: this.#hits,
      misses: this.#misses.length,
      scrubbed: this.#scrubbed,
      unused: isRecording ? 0 : this.#answers.unused().length,
      asked: isRecording ? this.#calls : this.#asked,
    };
  }

  /** Header information about servers that the agent addresses by URL. */
  servers(exchanges: readonly Exchange[]): Cassette['providers'] {
    return this.#servers.servers(exchanges.filter(({ served }) => served === undefined));
  }

  /** All entries to store. Undefined if none are new. */
  entries(exchanges: readonly Exchange[]): readonly CassetteEntry[] | undefined {
    const { mode, cassette, rules, errors } = this.#options;
    const asked = exchanges.filter(({ served }) => served === undefined);
    if (mode === 'replay' || (mode === 'auto' && asked.length === 0 && cassette !== undefined))
      return undefined;
    const known = mode === 'record' ? [] : (cassette?.entries ?? []);
    const named = asked.map((exchange) => ({
      ...exchange,
      provider: this.#servers.nameToStore(exchange.provider),
    }));
    const fresh = recordEntries(named, { rules, errors });
    return [...known, ...fresh.map((entry) => ({ ...entry, i: known.length + entry.i }))];
  }
}

/** Usage that this client did not request: the capture did, or the recorded client did. */
function hidesUsage(entry: CassetteEntry, route: Exchange['route'], body: Buffer): boolean {
  if (route !== 'chat' && route !== 'completions') return false;
  const asksItself = askUsage(body) === undefined;
  if (asksItself) return false;
  const { body: stored } = entry;
  let text: string | undefined;
  if (stored.kind === 'json') text = JSON.stringify(stored.value);
  else if (stored.kind === 'text') text = stored.text;
  const recorded = text === undefined ? undefined : askUsage(Buffer.from(text));
  return entry.askedUsage === true || recorded === undefined;
}

/**
 * In an error format that the SDKs of all providers show, with a status that none of them retries.
 * LangChain retries a 422 for more than a minute.
 */
function missReply(text: string): ServedReply {
  const message = `agentci cassette_miss: ${text}`;
  const error = { type: 'cassette_miss', code: 'cassette_miss', message };
  return {
    served: 'cassette',
    status: 400,
    headers: {
      'content-type': 'application/json',
      'x-should-retry': 'false',
      [MISS_HEADER]: 'cassette',
    },
    chunks: [Buffer.from(JSON.stringify({ type: 'error', error, message }))],
  };
}
