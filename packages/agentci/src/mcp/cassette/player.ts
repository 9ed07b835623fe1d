import { withoutFieldCredentials } from '../../kit/credential-fields.ts';
import { mapTexts, withoutCredentials } from '../../kit/credentials.ts';
import { isExactNumber, stringifyExact } from '../../kit/exact-json.ts';
import { canonicalJson } from '../../kit/hash.ts';
import { isObject } from '../../kit/object.ts';
import { errorReply, idKey, type Message } from '../message.ts';
import type { TapLine } from '../tap-log.ts';
import { firstDifference } from './difference.ts';

/** As `idKey`, for messages whose numbers keep their digits. */
const idOf = (id: unknown): string | undefined => (isExactNumber(id) ? stringifyExact(id) : idKey(id));

/** One request of a recording and what was answered. */
interface Entry {
  readonly method: string;
  readonly params: unknown;
  readonly key: string;
  /** Undefined where the client cancelled the request before it was answered. */
  readonly answer: Message | undefined;
  isUsed: boolean;
}

/** A request that the recording has no answer for. */
export interface Miss {
  readonly method: string;
  readonly message: string;
}

/** What describes the server rather than does something; it is answered alike however often it is asked. */
export const STEADY = /^(?:initialize|ping|server\/discover|(?:tools|prompts|resources|resources\/templates)\/list)$/;
/** What a server is asked to do or to give: a tool, a resource, a prompt. */
export const isCall = ({ method }: { readonly method: string }): boolean => !STEADY.test(method);
/** Asked by every client in its own words. */
const BY_METHOD = /^(?:initialize|server\/discover)$/;
const MISSED = -32000;

/**
 * Answers requests from a recording: the same method with the same parameters gets what was answered then, the nth time
 * the nth answer. Nothing is guessed.
 */
export class CassettePlayer {
  readonly #entries: readonly Entry[];
  readonly #misses: Miss[] = [];
  /** Requests that got no answer because the recorded client cancelled them, by id. */
  readonly #waiting = new Map<string, Miss>();
  /** Calls that were answered as recorded. */
  served = 0;
  /** Everything that was answered as recorded, what describes the server included. */
  answered = 0;

  constructor(lines: readonly TapLine[]) {
    this.#entries = entriesOf(lines);
  }

  /** Recorded calls that were not asked for. */
  get unused(): number {
    return this.#entries.filter((entry) => isCall(entry) && !entry.isUsed).length;
  }

  get calls(): number {
    return this.#entries.filter(isCall).length;
  }

  /** Requests that the recording has no answer for, so far. One that still waits was cancelled when it was recorded. */
  get misses(): readonly Miss[] {
    return [...this.#misses, ...this.#waiting.values()];
  }

  /** The answer to a message; undefined for one that wants none. `clean`: takes secrets out, as was done when recording. */
  answer(message: Message, clean: (value: unknown) => unknown = (value) => value): Message | undefined {
    const { id, method } = message;
    if (method === 'notifications/cancelled') this.#waiting.delete(cancelledId(message) ?? '');
    const asked = idOf(id);
    if (typeof method !== 'string' || asked === undefined) return undefined;
    const params = mapTexts(clean(withoutFieldCredentials(message.params)), withoutCredentials);
    const key = keyOf(method, params);
    const alike = this.#entries.filter((entry) => entry.key === key);
    const found = alike.find(({ isUsed }) => !isUsed) ?? (STEADY.test(method) ? alike.at(-1) : undefined);
    if (found !== undefined) {
      found.isUsed = true;
      this.answered++;
      if (isCall(found)) this.served++;
      if (found.answer !== undefined) return { ...found.answer, id };
      const message = `cassette miss: ${describe(method, params)}: it was cancelled when it was recorded, and this time it was not, so its answer is not known`;
      this.#waiting.set(asked, { method, message });
      return undefined;
    }
    if (method === 'ping') return { jsonrpc: '2.0', id, result: {} };
    const why = alike.length > 0 ? askedTooOften(alike.length) : this.#whyNot(method, params);
    const text = `cassette miss: ${describe(method, params)}: ${why}`;
    this.#misses.push({ method, message: text });
    return { ...errorReply(null, MISSED, text, { 'agentci/cassette': 'miss' }), id };
  }

  /** What can still be given, as lines. */
  rest(): TapLine[] {
    const left = this.#entries.filter(({ method, isUsed }) => !isUsed || STEADY.test(method));
    return left.flatMap(({ method, params, answer }, at): TapLine[] => linesOf({ id: at + 1, method, params, answer }));
  }

  /** How the nearest recorded request differs. */
  #whyNot(method: string, params: unknown): string {
    const same = this.#entries.filter((entry) => entry.method === method);
    if (same.length === 0) return `no ${method} was recorded`;
    const name = isObject(params) ? params.name : undefined;
    const named = same.filter((entry) => isObject(entry.params) && entry.params.name === name);
    if (named.length === 0) {
      const names = [...new Set(same.map((entry) => (isObject(entry.params) ? String(entry.params.name) : method)))];
      return `recorded were ${names.slice(0, 5).join(', ')}`;
    }
    const differences = named.map((entry) => firstDifference(withoutMeta(entry.params), withoutMeta(params)));
    const nearest = differences.reduce((best, each) => (each.count < best.count ? each : best));
    return `the nearest recorded one differs at ${nearest.path}: recorded ${nearest.recorded}, asked ${nearest.asked}`;
  }
}

const askedTooOften = (recorded: number): string => `asked ${recorded + 1} times, recorded ${recorded}`;

const describe = (method: string, params: unknown): string =>
  isObject(params) && typeof params.name === 'string' ? `${method} ${params.name}` : method;

const keyOf = (method: string, params: unknown): string =>
  BY_METHOD.test(method) ? method : `${method} ${canonicalJson(withoutMeta(params))}`;

/** `_meta` is about one request, such as the token for its progress. */
function withoutMeta(params: unknown): unknown {
  if (!isObject(params)) return params ?? {};
  const { _meta, ...rest } = params;
  return rest;
}

/** A request and its answer as a tap would have written them down; one without an answer was cancelled. */
export function linesOf(given: {
  readonly id: number;
  readonly method: string;
  readonly params?: unknown;
  readonly answer: Message | undefined;
}): TapLine[] {
  const { id, method, params, answer } = given;
  const line = (dir: TapLine['dir'], message: Message): TapLine => ({
    ts: '',
    dir,
    message: { jsonrpc: '2.0', ...message },
  });
  return [
    line('c2s', { id, method, ...(params === undefined ? {} : { params }) }),
    answer === undefined
      ? line('c2s', { method: 'notifications/cancelled', params: { requestId: id } })
      : line('s2c', { ...answer, id }),
  ];
}

const cancelledId = ({ params }: Message): string | undefined =>
  isObject(params) ? idOf(params.requestId) : undefined;

/** The requests of a recording, in the order in which they were asked, and how many of them were neither answered nor cancelled. */
function readRequests(lines: readonly TapLine[]): { readonly entries: readonly Entry[]; readonly open: number } {
  const entries: (Omit<Entry, 'answer'> & { answer?: Message; isCancelled?: true })[] = [];
  const open = new Map<string, (typeof entries)[number]>();
  for (const { dir, message } of lines) {
    if (!isObject(message)) continue;
    const { method } = message;
    if (dir === 'c2s' && method === 'notifications/cancelled') {
      const entry = open.get(cancelledId(message) ?? '');
      // An answer may have been on its way.
      if (entry !== undefined) entry.isCancelled = true;
      continue;
    }
    const id = idOf(message.id);
    if (id === undefined) continue;
    if (dir === 'c2s' && typeof method === 'string') {
      // A file from before may hold some.
      const params = withoutFieldCredentials(message.params);
      const entry = { method, params, key: keyOf(method, params), isUsed: false };
      entries.push(entry);
      open.set(id, entry);
    } else if (dir === 's2c' && method === undefined) {
      const entry = open.get(id);
      open.delete(id);
      if (entry !== undefined) entry.answer = message;
    }
  }
  const isWhole = ({ answer, isCancelled }: (typeof entries)[number]): boolean =>
    answer !== undefined || isCancelled === true;
  return {
    entries: entries
      .filter(isWhole)
      .map(({ method, params, key, answer, isUsed }) => ({ method, params, key, answer, isUsed })),
    // A replay answers these by itself.
    open: entries.filter((entry) => !isWhole(entry) && entry.method !== 'ping').length,
  };
}

/** Requests that were neither answered nor cancelled: a replay would have no answer for them either. */
export const unansweredRequests = (lines: readonly TapLine[]): number => readRequests(lines).open;

/** The requests of a recording that were answered, or cancelled before that, in the order in which they were asked. */
export const entriesOf = (lines: readonly TapLine[]): readonly Entry[] => readRequests(lines).entries;
