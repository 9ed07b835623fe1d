import { type Client, steadily } from './client.ts';
import type { Ticket } from './job.ts';
import { runKeys } from './names.ts';

/** A result as it is sent. */
export interface Letter {
  /** The name of the job. */
  readonly name: string;
  readonly parcel: Buffer;
  readonly costUsd: number;
}

/** `first`: it counts. `second`: another one of the same job came before. `unwanted`: the run is gone. */
export type Receipt = 'first' | 'second' | 'unwanted';

interface Waiting extends Letter {
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: unknown) => void;
}

const RECEIPTS: Readonly<Record<number, Receipt>> = { 1: 'first', 0: 'second' };
/** How long a result that keeps nothing waiting may wait for others. */
const GATHER_MS = 5;
const MAX_BYTES = 1024 * 1024;

/** Sends the results of one run, several at a time where that keeps nothing waiting. */
export class Outbox {
  readonly #redis: Client;
  readonly #ticket: Ticket;
  readonly #keepS: number;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(redis: Client, ticket: Ticket, keepS: number) {
    this.#redis = redis;
    this.#ticket = ticket;
    this.#keepS = keepS;
  }

  /** Settles once it is in Redis. An urgent one takes along all that wait. */
  send(letter: Letter, isUrgent: boolean): Promise<Receipt> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...letter, resolve, reject });
      this.#bytes += letter.parcel.length;
      if (isUrgent || this.#bytes >= MAX_BYTES) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
    });
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const letters = this.#waiting;
    this.#waiting = [];
    this.#bytes = 0;
    if (letters.length === 0) return;
    const { ticket, done, results, spent, stop } = runKeys(this.#ticket.run);
    const limit = String(this.#ticket.settings.maxCostUsd ?? '');
    const content = letters.flatMap(({ name, parcel, costUsd }) => [name, parcel, costText(costUsd)]);
    steadily(() => this.#redis.deliver(ticket, done, results, spent, stop, limit, this.#keepS, ...content)).then(
      (firsts) => {
        for (const [i, { resolve }] of letters.entries()) resolve(RECEIPTS[firsts[i] ?? -1] ?? 'unwanted');
      },
      (error: unknown) => {
        for (const { reject } of letters) reject(error);
      },
    );
  }
}

const costText = (costUsd: number): string => (Number.isFinite(costUsd) && costUsd > 0 ? String(costUsd) : '0');
