import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue } from 'bullmq';
import { UserError } from '../kit/user-error.ts';
import { Backlog } from './backlog.ts';
import { bundleData, queueEntry, readBundle } from './bundle.ts';
import { type Client, type QueuedJob, type Steadily, steadily } from './client.ts';
import { type Job, nameOf, readTicket, type Ticket } from './job.ts';
import { MAX_ALONE, OVER, READY, runKeys } from './names.ts';
import { Outbox, type Receipt } from './outbox.ts';
import { packParcel } from './parcel.ts';
import { Room } from './room.ts';
import type { Bench, Done, ServeOptions } from './serve-options.ts';
import { Stock } from './stock.ts';
import { type Handled, workOff } from './work-off.ts';

/** So many workers may die while they make the agent ready for the same job. */
const MAX_READY = 10;
/** How long what is known of a run is taken as true. */
const FRESH_MS = 50;
/** How long a job waits whose run no one collects at the moment. */
const ORPHAN_MS = 30_000;
/** How soon a worker looks whether a run is over once it has no job of it, and how often later on. */
const FIRST_LOOK_MS = 10;
const LOOK_MS = 200;
/** The first jobs of a run begin within this time, not all at once: an agent that is asked in bursts answers in bursts, again and again. */
const SPREAD_MS = 20;
const KEEP_S = 7 * 24 * 3600;

/** What is known of a run. */
interface Known {
  readonly at: number;
  readonly state: 'gone' | 'stop' | 'orphan' | 'go';
  /** The text of its ticket. */
  readonly ticket: string | null;
}

/** The agent of a run in this worker. */
interface Place {
  readonly ticket: Ticket;
  readonly bench: Promise<Bench>;
  readonly words: Promise<unknown>[];
  /** Done once whoever collects the run knows that it is open here. */
  readonly signed: Promise<unknown>;
  readonly outbox: Outbox;
  jobs: number;
  /** Those of them whose agent is not done, or whose result is not read. */
  unread: number;
  /** How many have been begun so far. */
  begun: number;
}

interface Admission {
  readonly state: string;
  readonly ticket: string | null;
  /** How often the job has had a worker to itself. */
  readonly starts?: number;
}

/** Decides what becomes of each job that is taken from the queue, and keeps the agents of the runs they belong to. */
export class Office {
  readonly #redis: Client;
  readonly #options: ServeOptions;
  readonly #worker: string;
  readonly #DelayedError: new () => Error;
  readonly #openQueue: () => Queue;
  #queue: Queue | undefined;
  readonly #steadily: Steadily;
  readonly #room: Room;
  readonly #stock: Stock;
  readonly #places = new Map<string, Place>();
  readonly #known = new Map<string, Known>();
  readonly #asked = new Map<string, Promise<Known>>();
  readonly #readings = new Backlog();
  #watch: NodeJS.Timeout | undefined;
  #running = 0;
  #isDrained = false;
  #isClosed = false;
  #lastAt = Date.now();
  done = 0;
  duplicates = 0;

  constructor(
    redis: Client,
    options: ServeOptions,
    about: {
      worker: string;
      DelayedError: new () => Error;
      openQueue: () => Queue;
      onHands: (count: number) => void;
      /** Told of every time that Redis was there and could not work. */
      onRefusal: () => void;
    },
  ) {
    this.#redis = redis;
    this.#options = options;
    this.#worker = about.worker;
    this.#DelayedError = about.DelayedError;
    this.#openQueue = about.openQueue;
    this.#steadily = (action) => steadily(action, { onRefusal: about.onRefusal });
    this.#room = new Room(options.slots);
    this.#stock = new Stock(options.slots, about.onHands);
  }

  /** The queue was found empty. */
  noteDrained = (): void => {
    this.#isDrained = true;
  };

  idleForMs = (): number => (this.#running > 0 ? 0 : Date.now() - this.#lastAt);

  take = async (queued: QueuedJob, token?: string): Promise<void> => {
    this.#isDrained = false;
    const bundle = readBundle(queued.data);
    if (bundle === undefined) throw new UserError('QUEUE_JOB', 'the job is not one of AgentCI');
    const { putOff } = bundle;
    const isAgain = bundle.isAgain || queued.attemptsStarted - putOff > 1;
    let jobs: readonly Job[];
    if (isAgain) jobs = await this.#suspects(bundle.jobs, queued);
    else if (putOff > 0) jobs = await this.#undone(bundle.jobs);
    else jobs = bundle.jobs;
    // A job by itself may be a long one: none are to wait behind it.
    if (jobs.length === 1) this.#stock.isBrisk = false;
    const hold = this.#stock.hold(jobs.length);
    const outcome = await workOff(jobs, {
      enter: () => this.#room.enter(isAgain),
      handle: (job) => this.#handle(job, isAgain).finally(() => hold.drop(1)),
      giveBack: (rest, begun) => {
        hold.drop(rest.length);
        return this.#giveBack(rest, begun, queued);
      },
      isEnding: () => this.#options.signal.aborted,
    }).finally(hold.end);
    if (jobs.length > 1) this.#stock.isBrisk = outcome === 'over';
    if (outcome !== 'later') return;
    // What was given back is not part of it any more.
    const { jobs: left, isAgain: wasAgain } = readBundle(queued.data) ?? bundle;
    const about = { isAgain: wasAgain, putOff: queued.attemptsStarted };
    await queued.updateData(bundleData(left, about)).catch(() => {});
    await queued.moveToDelayed(Date.now() + ORPHAN_MS, token);
    throw new this.#DelayedError();
  };

  /** Of a bundle that was begun before, those its worker may have died of. All but the first are for anyone, each by itself. */
  async #suspects(jobs: readonly Job[], queued: QueuedJob): Promise<readonly Job[]> {
    if (jobs.length === 1) return jobs;
    const [first, ...others] = await this.#undone(jobs);
    if (first === undefined) return [];
    if (others.length > 0) await this.#giveBack(others, [first], queued, { isAgain: true });
    return [first];
  }

  /** Those that have no result. */
  async #undone(jobs: readonly Job[]): Promise<readonly Job[]> {
    const { done } = runKeys(jobs[0]!.run);
    const found = await this.#steadily(() => this.#redis.hmget(done, ...jobs.map(nameOf)));
    return jobs.filter((_, i) => found[i] === null);
  }

  /** First the others get the rest, then it leaves the bundle: a worker that dies in between makes one come twice, and none get lost. */
  async #giveBack(
    rest: readonly Job[],
    begun: readonly Job[],
    queued: QueuedJob,
    about: { readonly isAgain?: boolean } = {},
  ): Promise<void> {
    if (rest.length > 0) {
      this.#queue ??= this.#openQueue();
      const queue = this.#queue;
      await this.#steadily(() => queue.addBulk(rest.map((job) => queueEntry([job], about))));
    }
    // A bundle that Redis has lost meanwhile is put in again by the collector.
    if (begun.length > 0) await queued.updateData(bundleData(begun, about)).catch(() => {});
  }

  /** Ends the agents of all runs. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#watch);
    await Promise.all([...this.#places.keys()].map((run) => this.#end(run)));
    await this.#queue?.disconnect().catch(() => {});
  }

  async #handle(job: Job, isAgain: boolean): Promise<Handled> {
    let place: Place | undefined;
    const end = (): void => {
      if (place === undefined) return;
      place.jobs--;
      if (place.jobs === 0) this.#lookAfter(FIRST_LOOK_MS);
      place = undefined;
      this.#running--;
      this.#lastAt = Date.now();
    };
    try {
      const {
        state,
        ticket,
        starts = 0,
      } = isAgain ? await this.#admit(job) : await this.#look(job.run);
      const found = state === 'go' ? this.#placeOf(job.run, ticket) : undefined;
      if (found === undefined) {
        end();
        return state === 'orphan' ? 'later' : { ends: Promise.resolve('sent') };
      }
      place = found;
      found.jobs++;
      this.#running++;
      const read =
        starts >= MAX_ALONE
          ? async () => this.#options.giveUp(job, starts + 1)
          : await this.#work(job, found, isAgain);
      // Before the next one begins, its cost must be counted where there is a limit. And one that may be to blame for the end of
      // this worker is not, once its result is sent.
      const isAwaited = isAgain || found.ticket.settings.maxCostUsd !== undefined;
      const ends = this.#send(job, found, { read, isUrgent: isAwaited }).finally(end);
      if (isAwaited) await ends;
      return { ends };
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Runs a job; what comes back reads what came of it. */
  async #work(job: Job, place: Place, isAgain: boolean): Promise<() => Promise<Done | undefined>> {
    const bench = await place.bench;
    const { slots } = this.#options;
    const turn = place.begun++;
    // One that is suspected runs alone already.
    if (turn > 0 && turn < slots && !isAgain) await sleep((SPREAD_MS * turn) / slots);
    place.unread++;
    const isRead = (): void => void place.unread--;
    try {
      const read = await bench.work(job);
      return () => read().finally(isRead);
    } catch (error) {
      isRead();
      throw error;
    }
  }

  /**
   * Reads what came of a job and sends it. A result that can wait is read when the slots that became free with it are busy again;
   * where there is nothing for them to do, at once.
   */
  async #send(
    job: Job,
    place: Place,
    { read, isUrgent }: { read: () => Promise<Done | undefined>; isUrgent: boolean },
  ): Promise<'sent' | 'later'> {
    if (!isUrgent && !this.#isDrained) await this.#readings.wait();
    const done = await read();
    if (done === undefined) return 'later';
    await this.#count(
      place.outbox.send({
        name: nameOf(job),
        parcel: packParcel(done.body),
        costUsd: done.costUsd,
      }),
    );
    return 'sent';
  }

  /**
   * Whether jobs of a run may be begun: asked for many at once. What is a little old is good enough for this job, while the news
   * for the next ones are on their way.
   */
  async #look(run: string): Promise<Admission> {
    // A limit on money is looked at before each job.
    if (this.#places.get(run)?.ticket.settings.maxCostUsd !== undefined) return this.#ask(run);
    const known = this.#known.get(run);
    const age = known === undefined ? Number.POSITIVE_INFINITY : Date.now() - known.at;
    if (age < FRESH_MS) return known!;
    const asked = this.#asked.get(run) ?? this.#ask(run);
    return age < 2 * FRESH_MS ? known! : asked;
  }

  #ask(run: string): Promise<Known> {
    const keys = runKeys(run);
    const at = Date.now();
    const asked = this.#steadily(() => this.#redis.mget(keys.ticket, keys.stop, keys.lease)).then(
      ([ticket = null, stop, lease]): Known => {
        let state: 'stop' | 'gone' | 'orphan' | 'go';
        if (ticket === null) state = 'gone';
        else if (stop !== null) state = 'stop';
        else if (lease === null) state = 'orphan';
        else state = 'go';
        const known = { at, state, ticket } as const;
        this.#known.set(run, known);
        return known;
      },
    );
    this.#asked.set(run, asked);
    const forget = (): void => void (this.#asked.get(run) === asked && this.#asked.delete(run));
    asked.then(forget, forget);
    return asked;
  }

  /**
   * A job that was begun before: how often it has had a worker to itself is counted, from when the agent is ready. A worker that
   * dies while it makes the agent ready has not died of this job, unless they all do.
   */
  async #admit(job: Job): Promise<Admission> {
    const known = await this.#look(job.run);
    if (known.state !== 'go') return known;
    const { ticket, lease, stop, done, starts } = runKeys(job.run);
    const name = nameOf(job);
    const tries = await this.#steadily(() => this.#redis.hincrby(starts, `${name}${READY}`, 1));
    if (tries <= MAX_READY) await (await this.#placeOf(job.run, known.ticket)?.bench)?.warm();
    const [state, before] = await this.#steadily(() =>
      this.#redis.admit(ticket, lease, stop, done, starts, name),
    );
    return { state, ticket: known.ticket, starts: tries <= MAX_READY ? Number(before) : tries };
  }

  #placeOf(run: string, text: string | null): Place | undefined {
    const known = this.#places.get(run);
    if (known !== undefined) return known;
    const ticket = text === null ? undefined : readTicket(text);
    if (ticket === undefined) return undefined;
    // The name of the queue says so already; whoever can write to Redis could still have put it there.
    if (ticket.spec !== this.#options.spec || ticket.version !== this.#options.version)
      throw new UserError('WORKER_MISMATCH', `run ${run} is of another spec or version`);
    return this.#open(ticket);
  }

  #open(ticket: Ticket): Place {
    const { results, ticket: key } = runKeys(ticket.run);
    const words: Promise<unknown>[] = [];
    const say = (body: unknown): void => {
      const word = this.#redis
        .exists(key)
        .then((isWanted) =>
          isWanted
            ? this.#redis.xadd(results, '*', 'kind', 'word', 'data', packParcel(body))
            : null,
        );
      words.push(word.catch(() => {}));
    };
    // Whoever collects the run waits for all who have signed, so that must be done before there is a result.
    const signed = this.#steadily(() => this.#sign(ticket.run));
    signed.catch(() => {});
    const outlook = () => ({ mayFollow: place.unread > 0, isDrained: this.#isDrained });
    const outbox = new Outbox(this.#redis, ticket, {
      keepS: KEEP_S,
      signed,
      outlook,
      steadily: this.#steadily,
    });
    const bench = this.#options.open(ticket, say);
    const place: Place = { ticket, bench, words, signed, outbox, jobs: 0, unread: 0, begun: 0 };
    this.#places.set(ticket.run, place);
    this.#lookAfter(LOOK_MS);
    return place;
  }

  #sign(run: string): Promise<number> {
    const { ticket, open } = runKeys(run);
    return this.#redis.sign(ticket, open, this.#worker, KEEP_S);
  }

  /** Looks whether runs are over, from then on less and less often. */
  #lookAfter(ms: number): void {
    clearTimeout(this.#watch);
    if (this.#isClosed || this.#places.size === 0) return;
    this.#watch = setTimeout(async () => {
      await this.#endOver().catch(() => {});
      this.#lookAfter(Math.min(LOOK_MS, 2 * ms));
    }, ms);
  }

  /** Ends the agents of runs that are over. Those at work are signed for again: Redis may have lost its data since. */
  async #endOver(): Promise<void> {
    for (const [run, { jobs }] of this.#places) {
      if (jobs > 0) {
        await this.#sign(run);
        continue;
      }
      const { ticket, stop } = runKeys(run);
      const [isThere, why] = await this.#redis.mget(ticket, stop);
      if (isThere === null || why === OVER) await this.#end(run);
    }
  }

  async #end(run: string): Promise<void> {
    const place = this.#places.get(run);
    if (place === undefined) return;
    this.#places.delete(run);
    this.#known.delete(run);
    try {
      await (await place.bench).close();
    } catch {
      // One that could not be opened has told so to each of its jobs.
    }
    await Promise.all(place.words);
    // Otherwise a signature that is sent again after a lost connection would stay.
    await place.signed.catch(() => {});
    await this.#steadily(() => this.#redis.srem(runKeys(run).open, this.#worker));
  }

  async #count(receipt: Promise<Receipt>): Promise<void> {
    const told = await receipt;
    if (told === 'first') this.done++;
    else if (told === 'second') this.duplicates++;
  }
}
