import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, Steadily } from './client.ts';
import type { Ticket } from './job.ts';
import { RENEW_MS } from './lease.ts';
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

/** What is to be expected. */
export interface Outlook {
  /** Other results may follow soon. */
  readonly mayFollow: boolean;
  /** There are no jobs in the queue. */
  readonly isDrained: boolean;
}

interface Waiting extends Letter {
  /** Tells it from every other letter. */
  readonly id: string;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: unknown) => void;
}

const RECEIPTS: Readonly<Record<number, Receipt>> = { 1: 'first', 0: 'second' };

/** How long a result waits for others: a message to Redis costs as much as a short job, here and where it is read. */
const GATHER_MS = 10;
/** And how long where no job waits for the time that is saved. */
const GATHER_LAST_MS = 2;

/** A run that Redis has forgotten is known again within this time, if someone collects it. */
const FORGOTTEN_MS = 3 * RENEW_MS;
const LOOK_MS = 250;

/** Sends the results of one run, those that are ready at about the same time together. */
export class Outbox {
  readonly #redis: Client;
  readonly #ticket: Ticket;
  readonly #keepS: number;
  readonly #signed: Promise<unknown>;
  readonly #outlook: () => Outlook;
  readonly #steadily: Steadily;
  readonly #sender = randomUUID();
  #sent = 0;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(
    redis: Client,
    ticket: Ticket,
    {
      keepS,
      signed,
      outlook,
      steadily,
    }: {
      readonly keepS: number;
      readonly signed: Promise<unknown>;
      readonly outlook: () => Outlook;
      readonly steadily: Steadily;
    },
  ) {
    this.#redis = redis;
    this.#ticket = ticket;
    this.#keepS = keepS;
    this.#signed = signed;
    this.#outlook = outlook;
    this.#steadily = steadily;
  }

  /** Settles once the result is in Redis. No slot waits for it. */
  send(letter: Letter): Promise<Receipt> {
    return new Promise<Receipt>((resolve, reject) => {
      this.#waiting.push({ ...letter, id: `${this.#sender} ${++this.#sent}`, resolve, reject });
      const { mayFollow, isDrained } = this.#outlook();
      if (!mayFollow) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), isDrained ? GATHER_LAST_MS : GATHER_MS);
    });
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const letters = this.#waiting;
    this.#waiting = [];
    this.#deliverWanted(letters).then(
      (firsts) => {
        for (const [i, { resolve }] of letters.entries())
          resolve(RECEIPTS[firsts[i] ?? -1] ?? 'unwanted');
      },
      (error: unknown) => {
        for (const { reject } of letters) reject(error);
      },
    );
  }

  /** What an agent did was paid for, so a Redis that has lost its data is given the time to learn of the run again. */
  async #deliverWanted(letters: readonly Waiting[]): Promise<readonly number[]> {
    const { ticket } = runKeys(this.#ticket.run);
    for (const until = Date.now() + FORGOTTEN_MS; ; ) {
      const firsts = await this.#steadily(() => this.#deliver(letters));
      if (firsts.length > 0) return firsts;
      for (;;) {
        if (Date.now() > until) return firsts;
        await sleep(LOOK_MS);
        if ((await this.#steadily(() => this.#redis.exists(ticket))) === 1) break;
      }
    }
  }

  async #deliver(letters: readonly Waiting[]): Promise<readonly number[]> {
    await this.#signed;
    const { ticket, done, results, spent, stop } = runKeys(this.#ticket.run);
    const limit = String(this.#ticket.settings.maxCostUsd ?? '');
    const content = letters.flatMap(({ name, parcel, costUsd, id }) => [
      name,
      parcel,
      costText(costUsd),
      id,
    ]);
    // A pipeline is written at once; single commands wait for others.
    const pipeline = this.#redis.pipeline() as unknown as Pick<Client, 'deliver'> & {
      exec: () => Promise<[Error | null, unknown][] | null>;
    };
    void pipeline.deliver(ticket, done, results, spent, stop, limit, this.#keepS, ...content);
    const [[error, firsts] = [null, []]] = (await pipeline.exec()) ?? [];
    if (error !== null) throw error;
    return firsts as readonly number[];
  }
}

const costText = (costUsd: number): string =>
  Number.isFinite(costUsd) && costUsd > 0 ? String(costUsd) : '0';
