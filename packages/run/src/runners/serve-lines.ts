import { findDuplicateKey, findJsonError, parseUnambiguous } from '@agentci/lib/json';
/** The reply to one query. */
export type LineReply =
  | {
      readonly ok: true;
      readonly value: unknown;
      readonly noise: readonly string[];
      readonly isNamed: boolean;
    }
  | { readonly ok: false; readonly why: string };

/** An unexpected answer, with the query it names if any. */
export interface Surplus {
  readonly id?: string;
}

/**
 * Time to wait for a second answer, which would otherwise count as the answer to the next query.
 */
const SETTLE_MS = 2;
const MAX_NOISE_LINES = 100;
const MAX_SHOWN = 80;
const ANSWER_LINE =
  'print each answer as one line of JSON, a string in quotes or an object such as {"answer": "…"}';

/**
 * Reads the lines of a program that answers one query after the other. An answer is a JSON string
 * or object on one line. Other lines are noise. Ambiguous output makes the program unfit for the
 * next query.
 */
export class ServeLines {
  /** The program printed a line that belongs to no query, or may belong to another. */
  isOutOfStep = false;
  readonly #maxBytes: number;
  readonly #onSurplus: (surplus: Surplus) => void;
  #rest: Buffer[] = [];
  #size = 0;
  #noise: string[] = [];
  #pending: { readonly id: string; readonly resolve: (reply: LineReply) => void } | undefined;
  #answer: LineReply | undefined;
  #settling: NodeJS.Timeout | undefined;

  constructor(maxBytes: number, onSurplus: (surplus: Surplus) => void) {
    this.#maxBytes = maxBytes;
    this.#onSurplus = onSurplus;
  }

  /** The reply to the query that is sent now. */
  next(id: string): Promise<LineReply> {
    this.#noise = [];
    this.#answer = undefined;
    return new Promise((resolve) => {
      this.#pending = { id, resolve };
    });
  }

  /** The reply so far, if no more can come. */
  given(): LineReply | undefined {
    clearTimeout(this.#settling);
    return this.#answer;
  }

  /** The other output for the query so far. Undefined if there is none. */
  printed(): string | undefined {
    const rest = Buffer.concat(this.#rest).toString('utf8').trim();
    const [first = rest] = this.#noise;
    if (first === '') return undefined;
    const more = this.#noise.length > 1 ? ` and ${this.#noise.length - 1} more` : '';
    return `printed ${JSON.stringify(first.slice(0, MAX_SHOWN))}${more}${this.#noise.length === 0 ? ' without a line break' : ''}, which is not an answer: ${ANSWER_LINE}`;
  }

  add(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      this.#rest.push(chunk.subarray(from, at));
      const line = Buffer.concat(this.#rest).toString('utf8').trim();
      this.#rest = [];
      this.#size = 0;
      from = at + 1;
      if (line !== '') this.#line(line);
    }
    const rest = chunk.subarray(from);
    this.#size += rest.length;
    if (this.#size > this.#maxBytes) {
      this.#rest = [];
      this.#fail(`printed a line of more than ${this.#maxBytes / 1024 / 1024} MB and was stopped`);
    } else if (rest.length > 0) this.#rest.push(rest);
  }

  #line(line: string): void {
    const value = parsed(line);
    const isAnswer = typeof value === 'string' || isMap(value);
    if (this.#pending === undefined) {
      // After the answer, or before a query. Words are harmless, but an answer would belong to
      // another query.
      if (isAnswer) this.#surplus(value);
      return;
    }
    if (this.#answer !== undefined) {
      if (!isAnswer) return;
      this.#surplus(value);
      this.#fail(
        'printed two answers to one query; print one JSON line for each, and logs to stderr',
      );
      return;
    }
    if (!isAnswer) {
      if (/^[{"]/.test(line))
        this.#fail(
          `printed a line that ${whyUnread(line)}: ${JSON.stringify(line.slice(0, MAX_SHOWN))}; ${ANSWER_LINE}`,
        );
      else if (this.#noise.length < MAX_NOISE_LINES) this.#noise.push(line);
      return;
    }
    const { id } = this.#pending;
    const named = idsIn(value);
    const other = named.find((one) => one !== id);
    if (other !== undefined) {
      this.#surplus(value);
      this.#fail(
        `answered another query: its reply has the id ${JSON.stringify(other.slice(0, MAX_SHOWN))}`,
      );
      return;
    }
    this.#answer = { ok: true, value, noise: this.#noise, isNamed: named.length > 0 };
    this.#settling = setTimeout(() => this.#settle(this.#answer!), SETTLE_MS);
  }

  #surplus(value: unknown): void {
    this.isOutOfStep = true;
    const [id] = idsIn(value);
    this.#onSurplus(id === undefined ? {} : { id });
  }

  #fail(why: string): void {
    this.isOutOfStep = true;
    this.#answer = { ok: false, why };
    this.#settle(this.#answer);
  }

  #settle(reply: LineReply): void {
    clearTimeout(this.#settling);
    const { resolve } = this.#pending ?? {};
    this.#pending = undefined;
    resolve?.(reply);
  }
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The ids that a reply names. */
const idsIn = (value: unknown): string[] =>
  isMap(value)
    ? [value.id, value.query_id].filter((one) => one !== undefined && one !== null).map(String)
    : [];

const parsed = (line: string): unknown => parseUnambiguous(line);

function whyUnread(line: string): string {
  const twice = findJsonError(line) === undefined ? findDuplicateKey(line) : undefined;
  return twice === undefined ? 'is not JSON' : `gives the key ${JSON.stringify(twice.key)} twice`;
}
