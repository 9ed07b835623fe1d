import type { Broken, Exchange, Route } from '../exchange.ts';

/** Maximum bytes to keep of a request, and of a reply. Larger ones are still passed on. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Maximum bytes to keep per query. */
const MAX_RUN_BYTES = 256 * 1024 * 1024;

export interface Opened {
  readonly route: Route;
  readonly provider: string;
  readonly method: string;
  readonly uri: string;
  readonly path?: string;
}

/** The exchanges of one query: all that began in it, even if they end later. */
export class ExchangeBook {
  readonly #now: () => number;
  readonly #done: Exchange[] = [];
  readonly #open = new Set<OpenExchange>();
  readonly #waiting: (() => void)[] = [];
  #count = 0;
  #bytes = 0;
  #isClosed = false;

  readonly #onExchange: (exchange: Exchange) => void;

  constructor(now: () => number, onExchange: (exchange: Exchange) => void = () => {}) {
    this.#now = now;
    this.#onExchange = onExchange;
  }

  /** Number of started exchanges. */
  get count(): number {
    return this.#count;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  open(about: Opened): OpenExchange {
    const exchange = new OpenExchange({
      about,
      i: ++this.#count,
      at: this.#now(),
      hasRoom: (bytes) => {
        this.#bytes += bytes;
        return this.#bytes <= MAX_RUN_BYTES;
      },
      onEnd: (done) => {
        this.#open.delete(exchange);
        this.#done.push(done);
        this.#onExchange(done);
        if (this.#open.size === 0) for (const resolve of this.#waiting.splice(0)) resolve();
      },
    });
    this.#open.add(exchange);
    return exchange;
  }

  /**
   * Waits up to `maxMs` for calls in flight and marks the rest. Returns exchanges in the order the
   * requests began.
   */
  async close(maxMs: number): Promise<readonly Exchange[]> {
    if (this.#open.size > 0) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, maxMs);
      });
      await Promise.race([new Promise<void>((resolve) => this.#waiting.push(resolve)), late]);
      clearTimeout(timer);
      for (const exchange of [...this.#open]) exchange.end({ complete: false, why: 'timeout' });
    }
    this.#isClosed = true;
    return this.#done.toSorted((a, b) => a.i - b.i);
  }
}

/** A slice keeps its whole buffer in memory, so small ones are copied. */
const compact = (bytes: Buffer): Buffer =>
  bytes.buffer.byteLength > 2 * bytes.length ? Buffer.from(bytes) : bytes;

interface OpenOptions {
  readonly about: Opened;
  readonly i: number;
  readonly at: number;
  readonly hasRoom: (bytes: number) => boolean;
  readonly onEnd: (exchange: Exchange) => void;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** An exchange in progress. */
export class OpenExchange {
  readonly #options: OpenOptions;
  readonly #started = performance.now();
  readonly #chunks: [number, Buffer][] = [];
  #request: Buffer = Buffer.alloc(0);
  #status: number | undefined;
  #headers: Readonly<Record<string, string>> = {};
  #ttfbMs: number | undefined;
  #kept = 0;
  #isTooLarge = false;
  #isOver = false;
  readonly #extra: Writable<Pick<Exchange, 'askedUsage' | 'served' | 'recordedI' | 'encoding'>> =
    {};

  constructor(options: OpenOptions) {
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The request of the client. Undefined if it is too large to keep. */
  asked(body: Buffer | undefined, encoding?: string): void {
    if (body === undefined || !this.#options.hasRoom(body.length)) this.#isTooLarge = true;
    else this.#request = compact(body);
    if (encoding !== undefined) this.#extra.encoding = encoding;
  }

  note(extra: Pick<Exchange, 'askedUsage' | 'served' | 'recordedI'>): void {
    Object.assign(this.#extra, extra);
  }

  replied(status: number, headers: Readonly<Record<string, string>>): void {
    this.#status = status;
    this.#headers = headers;
  }

  chunk(bytes: Buffer): void {
    const dt = performance.now() - this.#started;
    this.#ttfbMs ??= dt;
    this.#kept += bytes.length;
    if (this.#isTooLarge) return;
    if (this.#kept > MAX_BODY_BYTES || !this.#options.hasRoom(bytes.length)) {
      this.#isTooLarge = true;
      return;
    }
    this.#chunks.push([dt, compact(bytes)]);
  }

  /** The last bytes of the reply, to find its end mark. */
  tail(bytes: number): string {
    const last: Buffer[] = [];
    let size = 0;
    for (let i = this.#chunks.length - 1; i >= 0 && size < bytes; i--) {
      last.unshift(this.#chunks[i]![1]);
      size += last[0]!.length;
    }
    return Buffer.concat(last).subarray(-bytes).toString('latin1');
  }

  end({ complete, why, error }: { complete: boolean; why?: Broken; error?: string }): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { about, i, at, onEnd } = this.#options;
    const { route, provider, method, uri, path } = about;
    const { askedUsage, served, recordedI, encoding } = this.#extra;
    const reason = why ?? (this.#isTooLarge ? 'too_large' : undefined);
    // Field by field, because object copies take several times as long and every call is recorded.
    const exchange: Writable<Exchange> = {
      i,
      at,
      route,
      provider,
      method,
      uri,
      request: this.#request,
      status: this.#status,
      headers: this.#headers,
      chunks: this.#chunks,
      ttfbMs: this.#ttfbMs,
      endMs: performance.now() - this.#started,
      complete: complete && !this.#isTooLarge,
    };
    if (path !== undefined) exchange.path = path;
    if (askedUsage !== undefined) exchange.askedUsage = askedUsage;
    if (served !== undefined) exchange.served = served;
    if (recordedI !== undefined) exchange.recordedI = recordedI;
    if (encoding !== undefined) exchange.encoding = encoding;
    if (reason !== undefined) exchange.why = reason;
    if (error !== undefined) exchange.error = error;
    onEnd(exchange);
  }
}
