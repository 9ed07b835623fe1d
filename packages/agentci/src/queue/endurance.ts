import { formatMs } from '../kit/format-number.ts';
import { UserError } from '../kit/user-error.ts';
import { addressText, type QueueAddress } from './address.ts';
import { type Client, steadily } from './client.ts';
import { Pulse } from './pulse.ts';

/** A Redis that is restarted is back within this. */
const RECONNECT_MS = 60_000;
/** Someone who has had enough waits this long for a Redis that may be silent. */
const HURRY_MS = 2000;

export interface EnduranceOptions {
  readonly address: QueueAddress;
  readonly onNote: (message: string) => void;
  /** How long to wait for a Redis that went away; a minute. */
  readonly patienceMs?: number | undefined;
  /** Aborted when the user has had enough. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a connection is there again. */
  readonly onReady: () => void;
  /** Called when there is no more hope, for whatever reason. */
  readonly onFault: () => void;
}

/**
 * How long a run puts up with its Redis. What waits for one that is gone waits no longer than a minute, and not at all when the
 * user has had enough; from then on everything fails with the same words.
 */
export class Endurance {
  readonly #redis: Client;
  readonly #options: EnduranceOptions;
  readonly #pulse: Pulse;
  #outage: NodeJS.Timeout | undefined;
  /** What Redis says of why it cannot work at the moment. */
  #refusal: string | undefined;
  #fault: UserError | undefined;
  #isClosed = false;
  /** Ends whatever waits for an answer that will not come. */
  #giveUp: () => void = () => {};
  readonly #given = new Promise<undefined>((resolve) => {
    this.#giveUp = () => resolve(undefined);
  });

  constructor(redis: Client, options: EnduranceOptions) {
    this.#redis = redis;
    this.#options = options;
    this.#pulse = new Pulse(redis);
    redis.on('close', this.#onClose);
    redis.on('ready', this.#onReady);
    options.signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  get hasFault(): boolean {
    return this.#fault !== undefined;
  }

  throwFault(): void {
    if (this.#fault !== undefined) throw this.#fault;
  }

  fail(error: UserError): void {
    this.#fault ??= error;
    this.#options.onFault();
    this.#giveUp();
  }

  /** Waits for something, as long as there is hope. */
  async orFault<T>(promise: Promise<T>): Promise<T> {
    const done = promise.then((value) => ({ value }));
    // What comes of it after we gave up is of no interest.
    done.catch(() => {});
    const outcome = await Promise.race([done, this.#given]);
    if (outcome === undefined) throw this.#fault!;
    return outcome.value;
  }

  /** A Redis that is restarted in between, or full, costs time only, as long as it comes back. */
  async steadily<T>(action: () => Promise<T>): Promise<T> {
    let wasRefused = false;
    const onRefusal = (error: Error): void => {
      wasRefused = true;
      this.#refused(error.message);
    };
    try {
      const done = await this.orFault(
        steadily(action, { isGivenUp: () => this.hasFault, onRefusal }),
      );
      // Others may have worked all the while: what is full can be read.
      if (wasRefused) this.#endOutage();
      return done;
    } catch (error) {
      this.throwFault();
      throw replyError(this.#options.address, error) ?? error;
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#outage);
    this.#pulse.stop();
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }

  get #patienceMs(): number {
    return this.#options.patienceMs ?? RECONNECT_MS;
  }

  #lose = (): void => this.fail(lost(this.#options.address, this.#patienceMs, this.#refusal));

  #refused(why: string): void {
    if (this.#options.signal?.aborted) this.#lose();
    if (this.#refusal !== undefined || this.#isClosed) return;
    this.#refusal = why;
    if (this.#outage !== undefined) return;
    const { address, onNote } = this.#options;
    onNote(
      `the Redis at ${addressText(address)} cannot work (${why}); waiting for it for ${formatMs(this.#patienceMs)}`,
    );
    this.#outage = setTimeout(this.#lose, this.#patienceMs);
  }

  #endOutage(): void {
    if (this.#outage !== undefined) this.#options.onNote('Redis is back');
    clearTimeout(this.#outage);
    this.#outage = undefined;
    this.#refusal = undefined;
  }

  #onClose = (): void => {
    const { address, onNote, signal } = this.#options;
    if (this.#outage !== undefined || this.#isClosed) return;
    if (signal?.aborted) {
      this.#lose();
      return;
    }
    onNote(
      `the Redis at ${addressText(address)} went away; waiting for it for ${formatMs(this.#patienceMs)}`,
    );
    this.#outage = setTimeout(this.#lose, this.#patienceMs);
  };

  #onReady = (): void => {
    // One that refuses is there all the time.
    if (this.#refusal === undefined) this.#endOutage();
    this.#options.onReady();
  };

  #onAbort = (): void => {
    if (this.#redis.status !== 'ready') this.#lose();
    // One that is silent is told from one that is busy with taking jobs out.
    else void this.#pulse.look(HURRY_MS);
  };
}

const lost = (address: QueueAddress, patienceMs: number, refusal: string | undefined): UserError =>
  new UserError(
    'QUEUE_LOST',
    refusal === undefined
      ? `the Redis at ${addressText(address)} went away and did not come back within ${formatMs(patienceMs)}`
      : `the Redis at ${addressText(address)} cannot work, and did not recover within ${formatMs(patienceMs)}: ${refusal}`,
    {
      hint: `What was finished is stored: ${refusal === undefined ? 'start Redis again' : 'see to the Redis'}, and continue with --resume.`,
    },
  );

/** What Redis says to a command that it would do for no one. */
function replyError(address: QueueAddress, error: unknown): UserError | undefined {
  if (!(error instanceof Error) || error.name !== 'ReplyError') return undefined;
  return new UserError(
    'QUEUE_REPLY',
    `the Redis at ${addressText(address)} refused a command: ${error.message}`,
    {
      hint: 'Something else has written to the keys of AgentCI, or the user may not use the command. What was finished is stored: continue with --resume.',
    },
  );
}
