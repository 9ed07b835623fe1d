import { setTimeout as sleep } from 'node:timers/promises';
import { present } from '../kit/list.ts';
import { isObject } from '../kit/object.ts';
import { UserError } from '../kit/user-error.ts';
import { plural } from '../kit/words.ts';
import type { Delivery } from '../queue/delivery.ts';
import { type Job, nameOf, type Ticket } from '../queue/job.ts';
import { MAX_ALONE } from '../queue/names.ts';
import type { RunQueue } from '../queue/run-queue.ts';
import type { SeenWorker } from '../queue/worker-list.ts';
import type { RunResult } from '../results/run-result.ts';
import type { RunAbout } from '../runners/runner.ts';
import type { Query } from '../spec/suite.ts';
import type { Around } from './collected.ts';
import type { Outcome, Run } from './live-agent.ts';
import { addUsage, failedOutcome, lostOutcome, readOutcome } from './queued-outcome.ts';
import type { QueueChoice, RunOptions } from './run-options.ts';
import { settleOutcome } from './settle-outcome.ts';

/** Verdicts in progress at a time: those that ask a judge wait for it. */
const DEFAULT_VERDICTS = 16;
const READ_MS = 1000;
const STOPPED_READ_MS = 100;
/** Results that come one by one are taken together: being woken for each costs more than reading it. */
const GATHER_MS = 10;
/** The last ones are taken as they come: nothing is to be saved any more, and someone waits. */
const FEW = 100;
/** How often what is on disk leaves the queue: it is made sure first that the disk has it. Rarely while the last ones come in. */
const FORGET_MS = 250;
const FORGET_LAST_MS = 2000;
/** How often it is looked whether jobs were lost, and whether someone works on them. */
const LOOK_MS = 5000;
/** How often a run that waits for workers says so. */
const SAY_MS = 10_000;

interface CollectorInput extends Around {
  readonly options: RunOptions;
  readonly choice: QueueChoice;
  readonly queue: RunQueue;
  readonly ticket: Ticket;
}

/** Takes the results of a run from its queue, writes each verdict down, and looks after the jobs that came to nothing. */
export class QueueCollector {
  readonly #input: CollectorInput;
  /** What has no result yet, by the name of its job. */
  readonly #open = new Map<string, { readonly job: Job; readonly of: Run }>();
  readonly #verdicts = new Set<Promise<void>>();
  /** Deliveries whose results are on disk. */
  readonly #written: string[] = [];
  #forgetting: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  #suspects = new Set<string>();
  #lookedAt = Date.now();
  #forgotAt = Date.now();
  #workedAt = Date.now();
  #saidAt = Date.now();
  #duplicates = 0;
  #judged = 0;
  #wastedUsd = 0;
  /** Queries that were begun by workers that died; Redis counts them, and forgets them with everything else. */
  #lostAttempts = 0;
  #lostBefore = 0;
  /** Redis has lost what it knew of the run. */
  #hasForgotten = false;
  /** Workers that were still busy when the run was over. */
  #busy = 0;
  /** In a run that is continued, what had no result when it was: other results are from before. */
  readonly #asked: ReadonlySet<string> | undefined;
  /** By host: workers that have another commit checked out. */
  readonly #otherCommits = new Map<string, string>();
  user: RunResult['user'];

  constructor(input: CollectorInput, pending: readonly Run[]) {
    this.#input = input;
    for (const of of pending) {
      const { id, cell } = of.query;
      const job: Job = {
        run: input.ticket.run,
        id,
        cell,
        repeat: of.run,
      };
      this.#open.set(nameOf(job), { job, of });
    }
    if ((input.options.resumed?.length ?? 0) > 0) this.#asked = new Set(this.#open.keys());
  }

  async collect(): Promise<void> {
    const { queue, ledger, options, choice } = this.#input;
    // What came in while no one collected is first.
    await this.#readAll(undefined);
    // A queue that the run was moved to is not expected to know it.
    if (options.queueBefore === choice.address && !queue.wasKnown) this.#hasForgotten = true;
    options.begin?.();
    performance.mark('agentci:queue-put');
    await queue.put(this.#jobs());
    let isStopped = false;
    while (this.#open.size > 0 && this.#failure === undefined) {
      if (ledger.interrupted) break;
      if (ledger.stopped() && !isStopped) {
        isStopped = true;
        // What is being run is still written down.
        await queue.stop('stopped', this.#jobs());
      }
      const came = await this.#readAll(isStopped ? STOPPED_READ_MS : READ_MS);
      // Workers count as well, and begin nothing more once they find the limit reached.
      if (
        !isStopped &&
        came === 0 &&
        options.maxCostUsd !== undefined &&
        (await queue.hasReachedCost())
      )
        ledger.reachMaxCost();
      if (isStopped) await this.#forgetUnstarted();
      else if (queue.wasReset()) await this.#restore();
      else if (Date.now() - this.#lookedAt >= LOOK_MS) await this.#look(came > 0);
    }
    await this.#settled();
    performance.mark('agentci:queue-collected');
    this.#throwFailure();
    if (ledger.interrupted) await queue.stop('interrupted', this.#jobs());
    else await this.#finish();
  }

  /** Collects what is there or about to come, and lets nothing more begin. */
  async leave(): Promise<void> {
    const { queue, ledger } = this.#input;
    if (!queue.wasKnown) this.#hasForgotten = true;
    await queue.stop('the rest is run elsewhere', this.#jobs());
    while (this.#open.size > 0 && this.#failure === undefined && !ledger.interrupted) {
      await this.#readAll(STOPPED_READ_MS);
      await this.#forgetUnstarted();
    }
    await this.#finish();
  }

  /** What the workers say at the end. */
  async #finish(): Promise<void> {
    const { queue } = this.#input;
    await this.#settled();
    this.#throwFailure();
    await this.#noteLostAttempts();
    this.#compareCommits(await queue.workers());
    this.#busy = await queue.end();
    while ((await this.#readAll(undefined)) > 0);
    await this.#settled();
    this.#throwFailure();
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Leaves the run for --resume; where there is nothing to resume, nothing stays behind. */
  async abandon(): Promise<void> {
    const { queue } = this.#input;
    await this.#forgetting;
    if (!this.#hasResults) await queue.stop('given up', this.#jobs()).catch(() => {});
    await queue.close(this.#hasResults ? 'to be resumed' : 'given up');
  }

  /** Something of the run is stored. */
  get #hasResults(): boolean {
    return this.#judged > 0 || (this.#input.options.resumed?.length ?? 0) > 0;
  }

  /** Results that came a second time, and what they cost. */
  get unused(): RunResult['unused'] {
    return this.#duplicates === 0
      ? undefined
      : { results: this.#duplicates, cost_usd: this.#wastedUsd };
  }

  /** What decides nothing but must be known. */
  notices(): string[] {
    const { choice, options } = this.#input;
    const notices: string[] = [];
    if (this.#duplicates > 0) {
      const cost =
        this.#wastedUsd === 0
          ? ''
          : `; $${this.#wastedUsd.toFixed(4)} was spent on them and not used`;
      notices.push(
        `${plural(this.#duplicates, 'result')} came a second time, from workers that had lost their queries${cost}`,
      );
    }
    const limit =
      options.maxCostUsd === undefined ? '' : ', nor is it part of what --max-cost limits';
    if (this.#hasForgotten)
      notices.push(
        `Redis lost its data: queries that workers had begun before that may have been run again. What those cost is not known${limit}, unless their results are counted as second ones`,
      );
    if (this.#lostAttempts > 0) {
      notices.push(
        `up to ${plural(this.#lostAttempts, 'query was', 'queries were')} begun by workers that died or were cut off from Redis, and begun again: what that cost is not known${limit}`,
      );
    }
    if (this.#busy > 0)
      notices.push(
        `${plural(this.#busy, 'worker was', 'workers were')} still running queries a second time when all results were in: what that cost is not known`,
      );
    for (const [host, commit] of this.#otherCommits)
      notices.push(
        `a worker on ${host} has commit ${commit.slice(0, 7)} checked out, and this run is of ${choice.commit!.slice(0, 7)}: it may have run another agent`,
      );
    return notices;
  }

  #jobs = (): Job[] => [...this.#open.values()].map(({ job }) => job);

  async #readAll(waitMs: number | undefined): Promise<number> {
    const deliveries = await this.#input.queue.take(waitMs);
    for (const delivery of deliveries) await this.#receive(delivery);
    const isLong = this.#open.size > FEW;
    if (Date.now() - this.#forgotAt >= (isLong ? FORGET_MS : FORGET_LAST_MS)) this.#forget();
    if (deliveries.length > 0 && isLong) await sleep(GATHER_MS);
    return deliveries.length;
  }

  async #receive(delivery: Delivery): Promise<void> {
    const { options } = this.#input;
    const entry = this.#open.get(delivery.job);
    if (delivery.kind === 'word') this.#hear(delivery.body());
    else if (entry === undefined || delivery.kind === 'duplicate') {
      // One that is written down already, from before we were killed, is not a second one. A Redis that has lost its data takes
      // a second one for the first.
      const isSecond =
        delivery.kind === 'duplicate' || this.#asked === undefined || this.#asked.has(delivery.job);
      if (isSecond) this.#countDuplicate(delivery.costUsd);
    } else {
      this.#open.delete(delivery.job);
      this.#workedAt = Date.now();
      const { outcome, user } = readOutcome(delivery.body(), entry.of.query);
      this.user = addUsage(this.user, user);
      options.onEvent?.({
        type: 'run_started',
        id: entry.of.query.id,
        cell: entry.of.query.cell,
        run: entry.of.run,
      });
      await this.#judge(entry.of, outcome, delivery.id);
      return;
    }
    this.#written.push(delivery.id);
  }

  /** What is on disk leaves the queue, in the background: no one waits for the disk while results come in. */
  #forget(): void {
    this.#forgotAt = Date.now();
    if (this.#written.length === 0 || this.#forgetting !== undefined) return;
    const written = this.#written.splice(0);
    this.#forgetting = this.#makeSure(written)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#forgetting = undefined;
      });
  }

  async #makeSure(written: readonly string[]): Promise<void> {
    const { options, queue } = this.#input;
    await options.sync?.();
    await queue.settle(written);
  }

  #countDuplicate(costUsd: number): void {
    this.#duplicates++;
    this.#wastedUsd += costUsd;
    // It was paid for.
    this.#input.ledger.spend(costUsd);
  }

  /** Judges in the background, a few at a time; the result leaves the queue once it is on disk. */
  async #judge(of: Run, outcome: Outcome, delivery: string | undefined): Promise<void> {
    const { ledger, evaluate, options } = this.#input;
    const verdict = settleOutcome(of, outcome, { ledger, evaluate })
      .then(() => {
        this.#judged++;
        if (delivery !== undefined) this.#written.push(delivery);
      })
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#verdicts.delete(verdict));
    this.#verdicts.add(verdict);
    if (this.#verdicts.size >= (options.workers ?? DEFAULT_VERDICTS))
      await Promise.race(this.#verdicts);
  }

  async #settled(): Promise<void> {
    while (this.#verdicts.size > 0) await Promise.all(this.#verdicts);
    await this.#forgetting;
    this.#forget();
    await this.#forgetting;
  }

  /** What a worker says of the run as a whole. */
  #hear(body: unknown): void {
    if (!isObject(body)) return;
    const { options, ledger } = this.#input;
    const { code, message, about } = body;
    if (typeof message !== 'string') return;
    if (typeof code === 'string') options.onEvent?.({ type: 'note', code, message });
    else if (isObject(about))
      ledger.revoke(about as unknown as RunAbout, { kind: 'agent', message });
  }

  async #noteLostAttempts(): Promise<void> {
    this.#lostAttempts = this.#lostBefore + (await this.#input.queue.lostAttempts());
  }

  /** Puts in again what Redis has lost: the jobs, and what has been spent, which workers compare with the limit. */
  async #restore(): Promise<void> {
    const { queue, ledger, options } = this.#input;
    this.#hasForgotten = true;
    this.#lostBefore = this.#lostAttempts;
    // What workers have sent since is not lost.
    while ((await this.#readAll(undefined)) > 0);
    if (options.maxCostUsd !== undefined) await queue.noteSpent(ledger.spentUsd);
    await queue.restore(await queue.missing(this.#jobs()));
  }

  /** What no worker has begun will not be run. */
  async #forgetUnstarted(): Promise<void> {
    const coming = new Set((await this.#input.queue.coming(this.#jobs())).map(nameOf));
    for (const name of [...this.#open.keys()]) if (!coming.has(name)) this.#open.delete(name);
  }

  /** Looks for jobs that came to nothing, and whether anyone works at all. */
  async #look(isBusy: boolean): Promise<void> {
    this.#lookedAt = Date.now();
    const { queue } = this.#input;
    for (const { job, why } of await queue.lost())
      await this.#giveUp(job, (query) =>
        failedOutcome(query, 'worker', `no worker could run it: ${why}`),
      );
    for (const job of await queue.deadly(this.#jobs()))
      await this.#giveUp(job, (query) => lostOutcome(query, MAX_ALONE + 1));
    await this.#noteLostAttempts();
    if (isBusy) return;
    // Twice in a row: a result may just be on its way.
    const missing = await queue.missing(this.#jobs());
    await queue.restore(missing.filter((job) => this.#suspects.has(nameOf(job))));
    this.#suspects = new Set(missing.map(nameOf));
    const workers = await queue.workers();
    this.#compareCommits(workers);
    await this.#sayWhoWorks(workers);
  }

  /** There will be no result. */
  async #giveUp(job: Job, outcomeOf: (query: Query) => Outcome): Promise<void> {
    const entry = this.#open.get(nameOf(job));
    if (entry === undefined) return;
    this.#open.delete(nameOf(job));
    await this.#judge(entry.of, outcomeOf(entry.of.query), undefined);
  }

  /** The spec says which agent is run, and not what is in its files. */
  #compareCommits(workers: readonly SeenWorker[]): void {
    const { ticket, choice } = this.#input;
    for (const { spec, version, commit, host } of workers) {
      const isOurs = spec === ticket.spec && version === ticket.version;
      if (
        !isOurs ||
        commit === undefined ||
        choice.commit === undefined ||
        commit === choice.commit
      )
        continue;
      this.#otherCommits.set(host, commit);
    }
  }

  async #sayWhoWorks(workers: readonly SeenWorker[]): Promise<void> {
    const { ticket, options, choice } = this.#input;
    const fits = ({ spec, version }: SeenWorker): boolean =>
      spec === ticket.spec && version === ticket.version;
    if (workers.some(fits)) {
      this.#workedAt = Date.now();
      return;
    }
    const waitedMs = Date.now() - this.#workedAt;
    if (choice.timeoutMs !== undefined && waitedMs >= choice.timeoutMs)
      throw new UserError(
        'QUEUE_NO_WORKER',
        `no worker was there for ${Math.round(choice.timeoutMs / 1000)} s, and ${plural(this.#open.size, 'run')} ${this.#open.size === 1 ? 'is' : 'are'} left to do`,
        {
          hint: `${mismatch(workers, ticket)}${this.#hasResults ? ' What was finished is stored; continue with --resume.' : ''}`,
        },
      );
    if (Date.now() - this.#saidAt < SAY_MS) return;
    this.#saidAt = Date.now();
    const message = `waiting for a worker with this spec: ${plural(this.#open.size, 'run')} to do. ${mismatch(workers, ticket)}`;
    options.onEvent?.({ type: 'note', code: 'QUEUE_WAITING', message });
  }
}

/** Why the workers there are do not fit. */
function mismatch(workers: readonly SeenWorker[], { spec, version }: Ticket): string {
  if (workers.length === 0) return 'Start one: agentci worker --queue ADDRESS -c SPEC.';
  const other = workers.filter((worker) => worker.spec !== spec);
  const old = workers.filter((worker) => worker.spec === spec && worker.version !== version);
  const parts = present([
    other.length === 0
      ? undefined
      : `${plural(other.length, 'worker')} with another spec or prompt (${hosts(other)})`,
    old.length === 0
      ? undefined
      : `${plural(old.length, 'worker')} of another version (${hosts(old)})`,
  ]);
  return `There ${workers.length === 1 ? 'is' : 'are'} ${parts.join(' and ')}: bring ${workers.length === 1 ? 'it' : 'them'} to the same commit and start ${workers.length === 1 ? 'it' : 'them'} again.`;
}

const hosts = (workers: readonly SeenWorker[]): string =>
  [...new Set(workers.map(({ host, version }) => `${host}, ${version}`))].slice(0, 5).join('; ');
