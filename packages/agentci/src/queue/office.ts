import type { Queue } from 'bullmq';
import { UserError } from '../kit/user-error.ts';
import { bundleData, queueEntry, readBundle } from './bundle.ts';
import { type Client, type QueuedJob, steadily } from './client.ts';
import { type Job, nameOf, readTicket, type Ticket } from './job.ts';
import { OVER, runKeys } from './names.ts';
import { Outbox, type Receipt } from './outbox.ts';
import { packParcel } from './parcel.ts';
import { Room } from './room.ts';
import type { Bench, ServeOptions } from './serve-options.ts';
import { type Handled, workOff } from './work-off.ts';

/** A job that was begun once beside others and this often alone, and never ended, has killed as many workers. */
const MAX_ALONE = 2;
/** So many workers may die while they make the agent ready for the same job. */
const MAX_READY = 10;
/** How long what is known of a run is taken as true. */
const FRESH_MS = 50;
/** How long a job waits whose run no one collects at the moment. */
const ORPHAN_MS = 30_000;
/** How often a worker looks whether a run is over. */
const LOOK_MS = 200;
const KEEP_S = 7 * 24 * 3600;

/** The agent of a run in this worker. */
interface Place {
  readonly ticket: Ticket;
  readonly bench: Promise<Bench>;
  readonly words: Promise<unknown>[];
  readonly outbox: Outbox;
  jobs: number;
}

/** Decides what becomes of each job that is taken from the queue, and keeps the agents of the runs they belong to. */
export class Office {
  readonly #redis: Client;
  readonly #options: ServeOptions;
  readonly #worker: string;
  readonly #DelayedError: new () => Error;
  readonly #openQueue: () => Queue;
  #queue: Queue | undefined;
  readonly #room = new Room();
  readonly #places = new Map<string, Place>();
  readonly #states = new Map<string, { readonly at: number; readonly state: Promise<string> }>();
  readonly #look: NodeJS.Timeout;
  #running = 0;
  #lastAt = Date.now();
  done = 0;
  duplicates = 0;

  constructor(
    redis: Client,
    options: ServeOptions,
    about: { worker: string; DelayedError: new () => Error; openQueue: () => Queue },
  ) {
    this.#redis = redis;
    this.#options = options;
    this.#worker = about.worker;
    this.#DelayedError = about.DelayedError;
    this.#openQueue = about.openQueue;
    this.#look = setInterval(() => void this.#endOver().catch(() => {}), LOOK_MS);
  }

  idleForMs = (): number => (this.#running > 0 ? 0 : Date.now() - this.#lastAt);

  take = async (queued: QueuedJob, token?: string): Promise<void> => {
    const jobs = readBundle(queued.data);
    if (jobs === undefined) throw new UserError('QUEUE_JOB', 'the job is not one of AgentCI');
    const isFirst = queued.attemptsStarted === 1;
    const outcome = await workOff(isFirst ? jobs : await this.#suspects(jobs, queued), {
      handle: (job) => this.#handle(job, isFirst),
      giveBack: (rest, begun) => this.#giveBack(rest, begun, queued),
      isEnding: () => this.#options.signal.aborted,
    });
    if (outcome !== 'later') return;
    await queued.moveToDelayed(Date.now() + ORPHAN_MS, token);
    throw new this.#DelayedError();
  };

  /** Of a bundle that was begun before, the one its worker may have died of. The rest is for anyone. */
  async #suspects(jobs: readonly Job[], queued: QueuedJob): Promise<readonly Job[]> {
    if (jobs.length === 1) return jobs;
    const { done } = runKeys(jobs[0]!.run);
    const found = await steadily(() => this.#redis.hmget(done, ...jobs.map(nameOf)));
    const open = jobs.filter((_, i) => found[i] === null);
    // A result leaves the worker before the next job begins: only the first without one can have been running.
    const suspects = open.slice(0, 1);
    if (open.length > 1) await this.#giveBack(open.slice(1), suspects, queued);
    return suspects;
  }

  /** First the others get the rest, then it leaves the bundle: a worker that dies in between makes one come twice, and none get lost. */
  async #giveBack(rest: readonly Job[], begun: readonly Job[], queued: QueuedJob): Promise<void> {
    if (rest.length > 0) {
      this.#queue ??= this.#openQueue();
      const queue = this.#queue;
      await steadily(() => queue.addBulk(rest.map((job) => queueEntry([job]))));
    }
    // A bundle that Redis has lost meanwhile is put in again by the collector.
    if (begun.length > 0) await queued.updateData(bundleData(begun)).catch(() => {});
  }

  /** Ends the agents of all runs. */
  async close(): Promise<void> {
    clearInterval(this.#look);
    await Promise.all([...this.#places.keys()].map((run) => this.#end(run)));
    await this.#queue?.disconnect().catch(() => {});
  }

  async #handle(job: Job, isFirst: boolean): Promise<Handled> {
    const leave = await this.#room.enter(!isFirst);
    let place: Place | undefined;
    const end = (): void => {
      leave();
      if (place === undefined) return;
      place.jobs--;
      this.#running--;
      this.#lastAt = Date.now();
    };
    try {
      const { state, starts } = isFirst ? await this.#stateOf(job.run) : await this.#admit(job);
      const found = state === 'go' ? await this.#placeOf(job.run) : undefined;
      if (found === undefined) {
        end();
        return state === 'orphan' ? 'later' : { sent: Promise.resolve() };
      }
      place = found;
      place.jobs++;
      this.#running++;
      const done = starts >= MAX_ALONE ? this.#options.giveUp(job, starts + 1) : await (await place.bench).work(job);
      if (done !== undefined) {
        const letter = { name: nameOf(job), parcel: packParcel(done.body), costUsd: done.costUsd };
        const { left, receipt } = place.outbox.send(letter);
        const sent = this.#count(receipt).finally(end);
        // Whoever waits for it sees what went wrong.
        sent.catch(() => {});
        await left;
        return { sent };
      }
    } catch (error) {
      end();
      throw error;
    }
    end();
    return 'later';
  }

  /** Whether jobs of a run may be begun: asked for many at once. */
  async #stateOf(run: string): Promise<{ readonly state: string; readonly starts: number }> {
    const known = this.#states.get(run);
    // A limit on money is looked at before each job.
    const isLimited = this.#places.get(run)?.ticket.settings.maxCostUsd !== undefined;
    if (known !== undefined && !isLimited && Date.now() - known.at < FRESH_MS)
      return { state: await known.state, starts: 0 };
    const { ticket, lease, stop } = runKeys(run);
    const state = steadily(() => this.#redis.mget(ticket, stop, lease)).then(([isThere, isStopped, isHeld]) =>
      isThere === null ? 'gone' : isStopped !== null ? 'stop' : isHeld === null ? 'orphan' : 'go',
    );
    this.#states.set(run, { at: Date.now(), state });
    return { state: await state, starts: 0 };
  }

  /**
   * A job that was begun before: how often it has had a worker to itself is counted, from when the agent is ready. A worker that
   * dies while it makes the agent ready has not died of this job, unless they all do.
   */
  async #admit(job: Job): Promise<{ readonly state: string; readonly starts: number }> {
    const known = await this.#stateOf(job.run);
    if (known.state !== 'go') return known;
    const { ticket, lease, stop, done, starts } = runKeys(job.run);
    const name = nameOf(job);
    const tries = await steadily(() => this.#redis.hincrby(starts, `${name} ready`, 1));
    if (tries <= MAX_READY) await (await this.#placeOf(job.run))?.bench;
    const [state, before] = await steadily(() => this.#redis.admit(ticket, lease, stop, done, starts, name));
    return { state, starts: tries <= MAX_READY ? Number(before) : tries };
  }

  async #placeOf(run: string): Promise<Place | undefined> {
    const known = this.#places.get(run);
    if (known !== undefined) return known;
    const text = await steadily(() => this.#redis.get(runKeys(run).ticket));
    const ticket = text === null ? undefined : readTicket(text);
    if (ticket === undefined) return undefined;
    // The name of the queue says so already; whoever can write to Redis could still have put it there.
    if (ticket.spec !== this.#options.spec || ticket.version !== this.#options.version)
      throw new UserError('WORKER_MISMATCH', `run ${run} is of another spec or version`);
    // Another job of the run may have come first.
    return this.#places.get(run) ?? this.#open(ticket);
  }

  #open(ticket: Ticket): Place {
    const { open, results, ticket: key } = runKeys(ticket.run);
    const words: Promise<unknown>[] = [];
    const say = (body: unknown): void => {
      const word = this.#redis
        .exists(key)
        .then((isWanted) =>
          isWanted ? this.#redis.xadd(results, '*', 'kind', 'word', 'data', packParcel(body)) : null,
        );
      words.push(word.catch(() => {}));
    };
    const sign = (): Promise<unknown> => this.#redis.multi().sadd(open, this.#worker).expire(open, KEEP_S).exec();
    const bench = steadily(sign).then(() => this.#options.open(ticket, say));
    const outbox = new Outbox(this.#redis, ticket, KEEP_S);
    const place: Place = { ticket, bench, words, outbox, jobs: 0 };
    this.#places.set(ticket.run, place);
    return place;
  }

  /** Ends the agents of runs that are over. */
  async #endOver(): Promise<void> {
    for (const [run, { jobs }] of this.#places) {
      if (jobs > 0) continue;
      const { ticket, stop } = runKeys(run);
      const [isThere, why] = await this.#redis.mget(ticket, stop);
      if (isThere === null || why === OVER) await this.#end(run);
    }
  }

  async #end(run: string): Promise<void> {
    const place = this.#places.get(run);
    if (place === undefined) return;
    this.#places.delete(run);
    this.#states.delete(run);
    try {
      await (await place.bench).close();
    } catch {
      // One that could not be opened has told so to each of its jobs.
    }
    await Promise.all(place.words);
    await steadily(() => this.#redis.srem(runKeys(run).open, this.#worker));
  }

  async #count(receipt: Promise<Receipt>): Promise<void> {
    const told = await receipt;
    if (told === 'first') this.done++;
    else if (told === 'second') this.duplicates++;
  }
}
