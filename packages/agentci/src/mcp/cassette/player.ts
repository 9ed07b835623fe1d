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
  readonly answer: Message;
  isUsed: boolean;
}

/** A request that the recording has no answer for. */
export interface Miss {
  readonly method: string;
  readonly message: string;
}

/** What describes the server rather than does something; it is answered alike however often it is asked. */
export const STEADY = /^(?:initialize|ping|server\/discover|(?:tools|prompts|resources|resources\/templates)\/list)$/;
/** Asked by every client in its own words. */
const BY_METHOD = /^(?:initialize|server\/discover)$/;
const MISSED = -32000;

/**
 * Answers requests from a recording: the same method with the same parameters gets what was answered then, the nth time
 * the nth answer. Nothing is guessed.
 */
export class CassettePlayer {
  readonly #entries: readonly Entry[];
  readonly misses: Miss[] = [];
  served = 0;

  constructor(lines: readonly TapLine[]) {
    this.#entries = entriesOf(lines);
  }

  /** Recorded calls that were not asked for. */
  get unused(): number {
    return this.#entries.filter(({ method, isUsed }) => method === 'tools/call' && !isUsed).length;
  }

  get calls(): number {
    return this.#entries.filter(({ method }) => method === 'tools/call').length;
  }

  /** The answer to a message; undefined for one that wants none. `clean`: takes secrets out, as was done when recording. */
  answer(message: Message, clean: (value: unknown) => unknown = (value) => value): Message | undefined {
    const { id, method } = message;
    if (typeof method !== 'string' || idOf(id) === undefined) return undefined;
    const params = mapTexts(clean(message.params), withoutCredentials);
    const key = keyOf(method, params);
    const alike = this.#entries.filter((entry) => entry.key === key);
    const found = alike.find(({ isUsed }) => !isUsed) ?? (STEADY.test(method) ? alike.at(-1) : undefined);
    if (found !== undefined) {
      found.isUsed = true;
      if (method === 'tools/call') this.served++;
      return { ...found.answer, id };
    }
    if (method === 'ping') return { jsonrpc: '2.0', id, result: {} };
    const why = alike.length > 0 ? askedTooOften(alike.length) : this.#whyNot(method, params);
    const text = `cassette miss: ${describe(method, params)}: ${why}`;
    this.misses.push({ method, message: text });
    return { ...errorReply(null, MISSED, text, { 'agentci/cassette': 'miss' }), id };
  }

  /** What can still be given, as lines. */
  rest(): TapLine[] {
    const left = this.#entries.filter(({ method, isUsed }) => !isUsed || STEADY.test(method));
    return left.flatMap(({ method, params, answer }, at): TapLine[] => [
      { ts: '', dir: 'c2s', message: { jsonrpc: '2.0', id: at + 1, method, params } },
      { ts: '', dir: 's2c', message: { ...answer, id: at + 1 } },
    ]);
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

/** Calls of tools that were neither answered nor cancelled. */
export function unansweredCalls(lines: readonly TapLine[]): number {
  const open = new Set<string>();
  for (const { dir, message } of lines) {
    if (!isObject(message)) continue;
    const { method, params } = message;
    const id = idOf(message.id);
    if (dir === 'c2s' && method === 'tools/call' && id !== undefined) open.add(id);
    else if (dir === 's2c' && method === undefined && id !== undefined) open.delete(id);
    else if (method === 'notifications/cancelled' && isObject(params)) {
      const cancelled = idOf(params.requestId);
      if (cancelled !== undefined) open.delete(cancelled);
    }
  }
  return open.size;
}

/** The requests of a recording that were answered, in the order in which they were asked. */
export function entriesOf(lines: readonly TapLine[]): Entry[] {
  const entries: (Omit<Entry, 'answer'> & { answer?: Message })[] = [];
  const open = new Map<string, (typeof entries)[number]>();
  for (const { dir, message } of lines) {
    if (!isObject(message)) continue;
    const id = idOf(message.id);
    if (id === undefined) continue;
    const { method, params } = message;
    if (dir === 'c2s' && typeof method === 'string') {
      const entry = { method, params, key: keyOf(method, params), isUsed: false };
      entries.push(entry);
      open.set(id, entry);
    } else if (dir === 's2c' && method === undefined) {
      const entry = open.get(id);
      open.delete(id);
      if (entry !== undefined) entry.answer = message;
    }
  }
  return entries.filter((entry): entry is Entry => entry.answer !== undefined);
}
