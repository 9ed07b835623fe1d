import { canonicalJson, isObject } from '@agentci/lib/data';
import { isExactNumber, stringifyExact } from '@agentci/lib/json';
import { mapTexts, withoutCredentials, withoutFieldCredentials } from '@agentci/lib/secrets';
import { errorReply, idKey, type Message } from '../message.ts';
import type { TapLine } from '../tap-log.ts';
import { firstDifference } from './difference.ts';
import {
  type Aside,
  Asides,
  addCounts,
  type Counts,
  NO_ASIDE,
  withToken,
} from './server-messages.ts';

/** Like `idKey`, for messages whose numbers keep their digits. */
const idOf = (id: unknown): string | undefined =>
  isExactNumber(id) ? stringifyExact(id) : idKey(id);

/** A recorded request with its answer. */
interface Entry extends Aside {
  readonly method: string;
  readonly params: unknown;
  readonly key: string;
  /** Undefined if the client cancelled the request before the answer. */
  readonly answer: Message | undefined;
  isUsed: boolean;
}

/** The reply to a request. */
export interface Reply {
  /** Notifications before the answer. */
  readonly before: readonly Message[];
  readonly answer: Message | undefined;
  /** Notifications after it, before the next request. */
  readonly after: readonly Message[];
}

const NO_REPLY: Reply = { before: [], answer: undefined, after: [] };

/** A request without a recorded answer. */
export interface Miss {
  readonly method: string;
  readonly message: string;
}

/** Requests that describe the server. They always get the same answer. */
export const STEADY =
  /^(?:initialize|ping|server\/discover|(?:tools|prompts|resources|resources\/templates)\/list)$/;
/** Whether it is a request to use a tool, resource or prompt. */
export const isCall = ({ method }: { readonly method: string }): boolean => !STEADY.test(method);
/** Every client sends different parameters here. */
const BY_METHOD = /^(?:initialize|server\/discover)$/;
const MISSED = -32000;

/**
 * Answers requests from a recording: the nth request with the same method and parameters gets the
 * nth recorded answer. Nothing is guessed.
 */
export class CassettePlayer {
  readonly #entries: readonly Entry[];
  readonly #misses: Miss[] = [];
  /** Unanswered requests that the recorded client cancelled, by id. */
  readonly #waiting = new Map<string, Miss>();
  /** Calls answered from the recording. */
  served = 0;
  /** All requests answered from the recording, including descriptions of the server. */
  answered = 0;

  constructor(lines: readonly TapLine[]) {
    this.#entries = entriesOf(lines);
  }

  /** Recorded calls that were not requested. */
  get unused(): number {
    return this.#entries.filter((entry) => isCall(entry) && !entry.isUsed).length;
  }

  get calls(): number {
    return this.#entries.filter(isCall).length;
  }

  /**
   * Requests without a recorded answer so far. A waiting request was cancelled in the recording.
   */
  get misses(): readonly Miss[] {
    return [...this.#misses, ...this.#waiting.values()];
  }

  /** Whether the server sent unsolicited messages. */
  get hasNotifications(): boolean {
    return this.#entries.some(({ before, after }) => before.length + after.length > 0);
  }

  /** Server messages around the given answers that a replay does not send, counted by method. */
  get leftOut(): Counts {
    return addCounts(this.#entries.filter(({ isUsed }) => isUsed).map(({ leftOut }) => leftOut));
  }

  /** Like `reply`, but returns only the answer. */
  answer(message: Message, clean?: (value: unknown) => unknown): Message | undefined {
    return this.reply(message, clean).answer;
  }

  /**
   * The reply to a message. Empty if it needs none. `clean` removes secrets as during recording.
   */
  reply(message: Message, clean: (value: unknown) => unknown = (value) => value): Reply {
    const { id, method } = message;
    if (method === 'notifications/cancelled') this.#waiting.delete(cancelledId(message) ?? '');
    const asked = idOf(id);
    if (typeof method !== 'string' || asked === undefined) return NO_REPLY;
    const params = mapTexts(clean(withoutFieldCredentials(message.params)), withoutCredentials);
    const key = keyOf(method, params);
    const alike = this.#entries.filter((entry) => entry.key === key);
    const found =
      alike.find(({ isUsed }) => !isUsed) ?? (STEADY.test(method) ? alike.at(-1) : undefined);
    if (found !== undefined) {
      // Sent once, because a client notified of new tools lists them again.
      const { before, after } = found.isUsed
        ? NO_ASIDE
        : withToken(found, found.params, message.params);
      found.isUsed = true;
      this.answered++;
      if (isCall(found)) this.served++;
      if (found.answer !== undefined) return { before, answer: { ...found.answer, id }, after };
      const text = `cassette miss: ${describe(method, params)}: it was cancelled when it was recorded, and this time it was not, so its answer is not known`;
      this.#waiting.set(asked, { method, message: text });
      return { before, answer: undefined, after };
    }
    if (method === 'ping') return { ...NO_REPLY, answer: { jsonrpc: '2.0', id, result: {} } };
    const why = alike.length > 0 ? askedTooOften(alike.length) : this.#whyNot(method, params);
    const text = `cassette miss: ${describe(method, params)}: ${why}`;
    this.#misses.push({ method, message: text });
    const miss = { ...errorReply(null, MISSED, text, { 'agentci/cassette': 'miss' }), id };
    return { ...NO_REPLY, answer: miss };
  }

  /** The unused part of the recording, as lines. */
  rest(): TapLine[] {
    const left = this.#entries.filter(({ method, isUsed }) => !isUsed || STEADY.test(method));
    return left.flatMap(({ method, params, answer, ...aside }, at): TapLine[] =>
      linesOf({ id: at + 1, method, params, answer, ...(aside.isUsed ? NO_ASIDE : aside) }),
    );
  }

  /** The difference to the nearest recorded request. */
  #whyNot(method: string, params: unknown): string {
    const same = this.#entries.filter((entry) => entry.method === method);
    if (same.length === 0) return `no ${method} was recorded`;
    const name = isObject(params) ? params.name : undefined;
    const named = same.filter((entry) => isObject(entry.params) && entry.params.name === name);
    if (named.length === 0) {
      const names = [
        ...new Set(
          same.map((entry) => (isObject(entry.params) ? String(entry.params.name) : method)),
        ),
      ];
      return `recorded were ${names.slice(0, 5).join(', ')}`;
    }
    const differences = named.map((entry) =>
      firstDifference(withoutMeta(entry.params), withoutMeta(params)),
    );
    const nearest = differences.reduce((best, each) => (each.count < best.count ? each : best));
    return `the nearest recorded one differs at ${nearest.path}: recorded ${nearest.recorded}, asked ${nearest.asked}`;
  }
}

const askedTooOften = (recorded: number): string =>
  `asked ${recorded + 1} times, recorded ${recorded}`;

const describe = (method: string, params: unknown): string =>
  isObject(params) && typeof params.name === 'string' ? `${method} ${params.name}` : method;

const keyOf = (method: string, params: unknown): string =>
  BY_METHOD.test(method) ? method : `${method} ${canonicalJson(withoutMeta(params))}`;

/** `_meta` belongs to one request, such as its progress token. */
function withoutMeta(params: unknown): unknown {
  if (!isObject(params)) return params ?? {};
  const { _meta, ...rest } = params;
  return rest;
}

/** A request and its answer as a tap would write them. Without an answer, it was cancelled. */
export function linesOf(
  given: Partial<Aside> & {
    readonly id: number;
    readonly method: string;
    readonly params?: unknown;
    readonly answer: Message | undefined;
  },
): TapLine[] {
  const { id, method, params, answer, before = [], after = [], leftOut = {} } = given;
  const line = (dir: TapLine['dir'], message: Message): TapLine => ({
    ts: '',
    dir,
    message: { jsonrpc: '2.0', ...message },
  });
  const asked = line('c2s', { id, method, params });
  return [
    Object.keys(leftOut).length === 0 ? asked : { ...asked, left_out: leftOut },
    ...before.map((message) => line('s2c', message)),
    answer === undefined
      ? line('c2s', { method: 'notifications/cancelled', params: { requestId: id } })
      : line('s2c', { ...answer, id }),
    ...after.map((message) => line('s2c', message)),
  ];
}

const cancelledId = ({ params }: Message): string | undefined =>
  isObject(params) ? idOf(params.requestId) : undefined;

interface Asked extends Omit<Entry, 'answer' | keyof Aside> {
  readonly asides: Asides;
  answer?: Message;
  isCancelled?: true;
}

const isWhole = ({ answer, isCancelled }: Asked): boolean =>
  answer !== undefined || isCancelled === true;

const entryOf = ({
  asides: { before, after, leftOut },
  isCancelled: _,
  answer,
  ...asked
}: Asked): Entry => ({ ...asked, answer, before, after, leftOut });

/** The requests of a recording in order, and the number of unfinished ones. */
function readRequests(lines: readonly TapLine[]): {
  readonly entries: readonly Entry[];
  readonly open: number;
} {
  const entries: Asked[] = [];
  const open = new Map<string, Asked>();
  let answered: Asked | undefined;
  /** Server messages before the first request. */
  let early: Message[] = [];
  /** Assigns a notification or server request to the pending request, or else to the last one. */
  const setAside = (message: Message): void => {
    const waiting = [...open.values()].filter(({ method }) => method !== 'ping');
    const current =
      waiting.find(({ asides }) => asides.isProgress(message)) ??
      waiting.findLast(({ isCancelled }) => isCancelled !== true);
    if (current !== undefined) current.asides.add('before', message);
    else if (answered !== undefined) answered.asides.add('after', message);
    else early.push(message);
  };
  for (const { dir, message, left_out: leftOut } of lines) {
    if (!isObject(message)) continue;
    const { method } = message;
    if (dir === 'c2s' && method === 'notifications/cancelled') {
      const entry = open.get(cancelledId(message) ?? '');
      // The answer may already have been sent.
      if (entry !== undefined) entry.isCancelled = true;
      continue;
    }
    if (dir === 's2c' && typeof method === 'string') {
      setAside(message);
      continue;
    }
    const id = idOf(message.id);
    if (id === undefined) continue;
    if (dir === 'c2s' && typeof method === 'string') {
      // Older files may contain some.
      const params = withoutFieldCredentials(message.params);
      const asides = new Asides(params, leftOut);
      const entry: Asked = { method, params, key: keyOf(method, params), isUsed: false, asides };
      entries.push(entry);
      open.set(id, entry);
      if (method === 'ping') continue;
      for (const one of early) asides.add('before', one);
      early = [];
    } else if (dir === 's2c') {
      const entry = open.get(id);
      open.delete(id);
      if (entry === undefined) continue;
      entry.answer = message;
      answered = entry;
    }
  }
  return {
    entries: entries.filter(isWhole).map(entryOf),
    // A replay answers these without a recording.
    open: entries.filter((entry) => !isWhole(entry) && entry.method !== 'ping').length,
  };
}

/** Unfinished requests, for which a replay would have no answer either. */
export const unansweredRequests = (lines: readonly TapLine[]): number => readRequests(lines).open;

/** The answered or cancelled requests of a recording, in order. */
export const entriesOf = (lines: readonly TapLine[]): readonly Entry[] =>
  readRequests(lines).entries;
