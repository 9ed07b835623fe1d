import { isObject, present } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import { type Job, jobName, type QueuedRun } from '../queue/job.ts';
import { DEADLY } from '../queue/keys.ts';
import type { Message } from '../queue/message.ts';
import type { RunQueue } from '../queue/run-queue.ts';
import type { WorkerInfo } from '../queue/worker-list.ts';
import type { RunAbout } from '../runners/runner.ts';
import type { Ledger } from './ledger.ts';
import type { Run } from './live-agent.ts';
import { addUsage, failureBody, readOutcome } from './queued-outcome.ts';
import type { QueueChoice, RunOptions } from './run-options.ts';
import type { SourcedRun, SourceReport, TraceSource } from './source.ts';

/** Number of results to judge in parallel, because judges take time. */
const DEFAULT_VERDICTS = 16;
const READ_MS = 1000;
/** How often results that are on disk are removed from the queue. */
const FORGET_MS = 500;
/** How often to check for workers, and for lost or deadly jobs, while no results come. */
const CHECK_MS = 2000;
const SAY_MS = 10_000;

interface QueueInput {
  readonly options: RunOptions;
  readonly choice: QueueChoice;
  readonly queue: RunQueue;
  readonly run: QueuedRun;
  readonly ledger: Ledger;
  /** The run leaves this queue: it takes finished and running jobs, and starts nothing more. */
  readonly isLeft?: true;
}

/** The workers of a queue, which run the agent for the pending queries. */
export class QueueSource implements TraceSource {
  readonly workers: number;
  readonly isPaid = true;
  readonly #input: QueueInput;
  /** Jobs without a result, by name. */
  readonly #open = new Map<string, { readonly job: Job; readonly of: Run }>();
  /** Names of the jobs that a resumed run still needs. Other results are from before it was interrupted. */
  readonly #asked: ReadonlySet<string> | undefined;
  /** The message that each result came in. */
  readonly #messages = new WeakMap<SourcedRun, string>();
  /** Messages that are judged and can be removed from the queue. */
  #judged: string[] = [];
  #isStored: boolean;
  /** All runs were delivered. The last messages of workers are still unread. */
  #isWhole = false;
  #forgotAt = Date.now();
  #checkedAt = Date.now();
  #workedAt = Date.now();
  #saidAt = Date.now();
  #user: SourceReport['user'];
  #duplicates = 0;
  #wastedUsd = 0;
  #repeats = 0;
  /** Repeats before Redis lost its data. */
  #repeatsBefore = 0;
  #hasForgotten = false;
  #busyWorkers = 0;
  /** Workers with another commit, by host. */
  readonly #otherCommits = new Map<string, string>();

  constructor(input: QueueInput) {
    this.#input = input;
    this.workers = input.options.workers ?? DEFAULT_VERDICTS;
    for (const of of input.ledger.pending()) {
      const { id, cell } = of.query;
      const job: Job = { run: input.run.run, id, cell, repeat: of.run };
      this.#open.set(jobName(job), { job, of });
    }
    this.#isStored = (input.options.resumed?.length ?? 0) > 0;
    if (this.#isStored) this.#asked = new Set(this.#open.keys());
  }

  async *runs(): AsyncGenerator<SourcedRun> {
    const { ledger, isLeft } = this.#input;
    if (this.#open.size === 0) return;
    try {
      yield* isLeft ? this.#rest() : this.#all();
      this.#isWhole = true;
    } catch (error) {
      // Store a run that is interrupted while Redis is gone as it is.
      if (!ledger.interrupted) throw error;
    }
  }

  recorded = (run: SourcedRun): void => {
    const message = this.#messages.get(run);
    this.#isStored = true;
    if (message !== undefined) this.#judged.push(message);
  };

  async close(how?: 'failed'): Promise<SourceReport> {
    if (!this.#isWhole || how === 'failed') await this.#abandon();
    else
      await this.#end().catch(async (error: unknown) => {
        await this.#abandon();
        // Store a run that is interrupted while Redis is gone as it is.
        if (!this.#input.ledger.interrupted) throw error;
      });
    const unused = { results: this.#duplicates, cost_usd: this.#wastedUsd };
    return {
      user: this.#user,
      unused: this.#duplicates === 0 ? undefined : unused,
      notices: this.#notices(),
    };
  }

  async *#all(): AsyncGenerator<SourcedRun> {
    const { queue, ledger, options, choice } = this.#input;
    // Results that arrived while the run had no collector.
    yield* this.#readAll();
    if (options.queueBefore === choice.address && !queue.wasKnown) this.#hasForgotten = true;
    options.sink?.begin?.();
    performance.mark('agentci:queue-put');
    await queue.put(this.#jobs());
    while (this.#isActive() && !ledger.stopped()) {
      const { count, runs } = await this.#read(READ_MS);
      yield* runs;
      if (queue.hasForgotten()) yield* this.#restore();
      else if (count === 0) await this.#check();
    }
    if (this.#isActive()) yield* this.#stop('stopped');
  }

  /** Collects finished and running jobs, and starts nothing more. */
  async *#rest(): AsyncGenerator<SourcedRun> {
    if (!this.#input.queue.wasKnown) this.#hasForgotten = true;
    yield* this.#stop('the rest is run elsewhere');
  }

  /** Waits until workers have closed the agent, and reads their last messages. */
  async #end(): Promise<void> {
    const { queue, ledger, isLeft } = this.#input;
    await this.#forget();
    performance.mark('agentci:queue-collected');
    if (ledger.interrupted && !isLeft) await queue.stop('interrupted', this.#jobs());
    else {
      await this.#countRepeats();
      this.#compareCommits(await queue.workers());
      this.#busyWorkers = await queue.end();
      // Every job has its result, so there are no runs among these messages.
      while ((await this.#read(0)).count > 0);
      await this.#forget();
    }
    const isOver = isLeft ? 'given up' : 'over';
    await queue.close(ledger.interrupted ? 'to be resumed' : isOver);
  }

  /** Leaves the run for --resume, or cleans up if there is nothing to resume. */
  async #abandon(): Promise<void> {
    const { queue } = this.#input;
    if (!this.#isStored) await queue.stop('given up', this.#jobs()).catch(() => {});
    await queue.close(this.#isStored ? 'to be resumed' : 'given up');
  }

  #notices(): string[] {
    const { choice, options } = this.#input;
    const wasted = `; $${this.#wastedUsd.toFixed(4)} was spent on them and not used`;
    const limit =
      options.maxCostUsd === undefined ? '' : ', nor is it part of what --max-cost limits';
    return present([
      this.#duplicates === 0
        ? undefined
        : `${plural(this.#duplicates, 'result')} came a second time, from workers that had lost their queries${this.#wastedUsd === 0 ? '' : wasted}`,
      this.#hasForgotten
        ? `Redis lost its data: queries that workers had begun before that may have been run again. What those cost is not known${limit}, unless their results are counted as second ones`
        : undefined,
      this.#repeats === 0
        ? undefined
        : `up to ${plural(this.#repeats, 'query was', 'queries were')} begun by workers that died or were cut off from Redis, and begun again: what that cost is not known${limit}`,
      this.#busyWorkers === 0
        ? undefined
        : `${plural(this.#busyWorkers, 'worker was', 'workers were')} still running queries a second time when all results were in: what that cost is not known`,
      ...[...this.#otherCommits].map(
        ([host, commit]) =>
          `a worker on ${host} has commit ${commit.slice(0, 7)} checked out, and this run is of ${choice.commit!.slice(0, 7)}: it may have run another agent`,
      ),
    ]);
  }

  #jobs = (): Job[] => [...this.#open.values()].map(({ job }) => job);

  #isActive = (): boolean => this.#open.size > 0 && !this.#input.ledger.interrupted;

  async #read(
    waitMs: number,
  ): Promise<{ readonly count: number; readonly runs: readonly SourcedRun[] }> {
    const messages = await this.#input.queue.read(waitMs);
    const runs = present(messages.map((message) => this.#receive(message)));
    if (Date.now() - this.#forgotAt >= FORGET_MS) await this.#forget();
    return { count: messages.length, runs };
  }

  async *#readAll(): AsyncGenerator<SourcedRun> {
    for (;;) {
      const { count, runs } = await this.#read(0);
      if (count === 0) return;
      yield* runs;
    }
  }

  #receive({ id, kind, job, costUsd, body }: Message): SourcedRun | undefined {
    const entry = this.#open.get(job);
    if (kind === 'result' && entry !== undefined) {
      this.#open.delete(job);
      this.#workedAt = Date.now();
      const { outcome, user } = readOutcome(body(), entry.of.query);
      this.#user = addUsage(this.#user, user);
      const { id: query, cell } = entry.of.query;
      const event = { type: 'run_started', id: query, cell, run: entry.of.run } as const;
      this.#input.options.sink?.event?.(event);
      const run = { ...entry.of, outcome: async () => outcome };
      this.#messages.set(run, id);
      return run;
    }
    if (kind === 'note') this.#hear(body());
    // After a data loss Redis reports a duplicate result as the first.
    else if (kind === 'duplicate' || this.#asked === undefined || this.#asked.has(job)) {
      this.#duplicates++;
      this.#wastedUsd += costUsd;
      this.#input.ledger.spend(costUsd);
    }
    this.#judged.push(id);
    return undefined;
  }

  async #forget(): Promise<void> {
    const judged = this.#judged;
    this.#judged = [];
    if (judged.length > 0) await this.#input.options.sink?.sync?.();
    await this.#input.queue.forget(judged);
    this.#forgotAt = Date.now();
  }

  /** A message of a worker about the run. */
  #hear(body: unknown): void {
    if (!isObject(body) || typeof body.message !== 'string') return;
    const { options, ledger } = this.#input;
    const { code, message, about } = body;
    if (typeof code === 'string') options.sink?.event?.({ type: 'note', code, message });
    else if (isObject(about))
      ledger.revoke(about as unknown as RunAbout, { kind: 'agent', message });
  }

  /** Starts nothing more, and reads the results of running jobs. */
  async *#stop(why: string): AsyncGenerator<SourcedRun> {
    const { queue } = this.#input;
    await queue.stop(why, this.#jobs());
    for (let isActive = true; isActive && this.#isActive(); ) {
      isActive = await queue.hasActive(this.#jobs());
      yield* this.#readAll();
    }
    if (!this.#input.ledger.interrupted) this.#open.clear();
  }

  async #countRepeats(): Promise<void> {
    this.#repeats = this.#repeatsBefore + (await this.#input.queue.repeats());
  }

  /** Restores the data that Redis lost. */
  async *#restore(): AsyncGenerator<SourcedRun> {
    const { queue, ledger, options } = this.#input;
    this.#hasForgotten = true;
    this.#repeatsBefore = this.#repeats;
    yield* this.#readAll();
    if (options.maxCostUsd !== undefined) await queue.noteSpent(ledger.spentUsd);
    await queue.put(this.#jobs());
  }

  async #check(): Promise<void> {
    const { queue, ledger, options } = this.#input;
    // Workers stop at --max-cost by their own sum.
    if (options.maxCostUsd !== undefined && (await queue.hasReachedCost()))
      return ledger.reachMaxCost();
    if (Date.now() - this.#checkedAt < CHECK_MS) return;
    this.#checkedAt = Date.now();
    await queue.failDeadly(this.#open, failureBody('worker_lost', DEADLY));
    await this.#countRepeats();
    // If a job with a result is added again, the worker that takes it drops it.
    if ((await queue.size()) < this.#open.size) await queue.put(this.#jobs());
    const workers = await queue.workers();
    this.#compareCommits(workers);
    this.#expectWorker(workers);
  }

  #fits = ({ spec, version }: WorkerInfo): boolean =>
    spec === this.#input.run.spec && version === this.#input.run.version;

  /** The spec does not cover the files of the agent. */
  #compareCommits(workers: readonly WorkerInfo[]): void {
    const { commit: ours } = this.#input.choice;
    for (const worker of workers.filter(this.#fits)) {
      const { commit = ours, host } = worker;
      if (ours !== undefined && commit !== ours) this.#otherCommits.set(host, commit!);
    }
  }

  /** Reports that the run waits for a worker, and gives up after --queue-timeout. */
  #expectWorker(workers: readonly WorkerInfo[]): void {
    const { run, options, choice } = this.#input;
    const now = Date.now();
    if (workers.some(this.#fits)) this.#workedAt = now;
    const { timeoutMs = Number.POSITIVE_INFINITY } = choice;
    const left = this.#open.size;
    if (now - this.#workedAt >= timeoutMs)
      throw new UserError(
        'QUEUE_NO_WORKER',
        `no worker was there for ${Math.round(timeoutMs / 1000)} s, and ${plural(left, 'run')} ${left === 1 ? 'is' : 'are'} left to do`,
        {
          hint: `${mismatch(workers, run)}${this.#isStored ? ' Finished results are stored: continue with --resume.' : ''}`,
        },
      );
    if (now - Math.max(this.#saidAt, this.#workedAt) < SAY_MS) return;
    this.#saidAt = now;
    const message = `waiting for a worker with this spec: ${plural(left, 'run')} to do. ${mismatch(workers, run)}`;
    options.sink?.event?.({ type: 'note', code: 'QUEUE_NO_WORKER', message });
  }
}

/** Explains why the workers do not match. */
function mismatch(workers: readonly WorkerInfo[], { spec, version }: QueuedRun): string {
  if (workers.length === 0) return 'Start one: agentci worker --queue ADDRESS -c SPEC.';
  const other = workers.filter((worker) => worker.spec !== spec);
  const old = workers.filter((worker) => worker.spec === spec && worker.version !== version);
  const part = (which: readonly WorkerInfo[], what: string): string | undefined =>
    which.length === 0 ? undefined : `${plural(which.length, 'worker')} ${what} (${hosts(which)})`;
  const parts = present([
    part(other, 'with another spec or prompt'),
    part(old, 'of another version'),
  ]);
  const [be, them] = workers.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return `There ${be} ${parts.join(' and ')}: bring ${them} to the same commit and start ${them} again.`;
}

const hosts = (workers: readonly WorkerInfo[]): string =>
  [...new Set(workers.map(({ host, version }) => `${host}, ${version}`))].slice(0, 5).join('; ');
