import { isDeepStrictEqual } from 'node:util';
import { MAX_OUTPUT_BYTES } from './command.ts';
import {
  AgentError,
  type AgentWatch,
  inputOf,
  type RunAbout,
  type RunnerEnvironment,
  type RunRequest,
} from './runner.ts';
import { type LineReply, ServeLines, type Surplus } from './serve-lines.ts';
import { CLOSE_GRACE_MS, StandingProcess } from './standing-process.ts';
import { reasonIn } from './stderr-reason.ts';

/** A query this process has answered. */
interface Answered {
  readonly about: RunAbout;
  /** The reply named its query. */
  readonly isNamed: boolean;
}

interface Surroundings {
  /** Name of the program in messages. */
  readonly name: string;
  readonly agentWatch: AgentWatch | undefined;
  readonly onVoid: NonNullable<RunnerEnvironment['onVoid']>;
}

/**
 * A process may crash because of the previous query. That shows soon after the next query arrives.
 */
const AFTERMATH_MS = 500;
/** Maximum wait for a late answer at the end. */
const MAX_DRAIN_MS = 30_000;

/** One process that answers one query at a time. */
export class ServeProcess {
  readonly agentWatch: AgentWatch | undefined;
  readonly gone: Promise<unknown>;
  readonly #name: string;
  readonly #onVoid: Surroundings['onVoid'];
  readonly #process: StandingProcess;
  readonly #lines: ServeLines;
  readonly #answered: Answered[] = [];
  #isAsked = false;
  #isBlamed = false;
  #isDistrusted = false;
  #wasInterrupted = false;
  #longestMs = 0;

  constructor(
    options: ConstructorParameters<typeof StandingProcess>[0],
    { name, agentWatch, onVoid }: Surroundings,
  ) {
    this.agentWatch = agentWatch;
    this.#name = name;
    this.#onVoid = onVoid;
    this.#lines = new ServeLines(MAX_OUTPUT_BYTES, (surplus) => this.#doubt(surplus));
    this.#process = new StandingProcess(options, (chunk) => this.#lines.add(chunk));
    this.gone = this.#process.ended;
    void this.#process.ended.then(({ isByItself, isClean }) => {
      if (isByItself && !isClean && !this.#isAsked) this.#blameLast();
    });
  }

  /** It runs, and its last output was the answer to its last query. */
  get isFit(): boolean {
    return (
      this.#process.isAlive &&
      !this.#process.hasExited &&
      !this.#lines.isOutOfStep &&
      !this.#isDistrusted
    );
  }

  /** Marks the process as unfit, because its last output may not have been the answer. */
  distrust(): void {
    this.#isDistrusted = true;
  }

  stderr(): string {
    return this.#process.stderr();
  }

  stop(): Promise<unknown> {
    return this.#process.stop();
  }

  /**
   * Ends a process after the last query. If replies do not name their query, an extra one means
   * that answers were assigned to the wrong queries. So this waits for late output, as long as an
   * answer has taken so far.
   */
  async retire(): Promise<void> {
    if (this.#wasInterrupted) {
      await this.stop();
      return;
    }
    await this.#process.lastMoment();
    // The turns of a conversation share one id, so the id does not identify the turn.
    const isOpen = this.#answered.some(
      ({ about, isNamed }) => !isNamed || about.turn !== undefined,
    );
    const graceMs = isOpen ? Math.min(MAX_DRAIN_MS, this.#longestMs * 1.5) : 0;
    await this.#process.stop(Math.max(CLOSE_GRACE_MS, graceMs));
  }

  async ask(request: RunRequest): Promise<LineReply & { ok: true }> {
    this.#isAsked = true;
    const started = performance.now();
    try {
      const reply = await this.#ask(request);
      const { id, run, cell, turn } = request;
      this.#answered.push({ about: { id, run, cell, turn }, isNamed: reply.isNamed });
      this.#longestMs = Math.max(this.#longestMs, performance.now() - started);
      this.#isAsked = false;
      // It may have ended since its answer.
      if (this.#process.end?.isByItself === true && !this.#process.end.isClean) this.#blameLast();
      return reply;
    } finally {
      this.#isAsked = false;
    }
  }

  async #ask(request: RunRequest): Promise<LineReply & { ok: true }> {
    const { signal, id } = request;
    const name = this.#name;
    const started = performance.now();
    this.#process.clearStderr();
    const reply = this.#lines.next(id);
    this.#process.write(`${JSON.stringify(inputOf(request))}\n`);
    let onAbort: (() => void) | undefined;
    const aborted = new Promise<'aborted'>((resolveAbort) => {
      onAbort = () => resolveAbort('aborted');
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      const first = await Promise.race([
        reply,
        this.#process.ended.then(() => 'ended' as const),
        aborted,
      ]);
      // An answer that is in the pipe when the process ends still counts.
      const outcome = first === 'ended' ? (this.#lines.given() ?? first) : first;
      if (outcome === 'ended') {
        const { how, stderr } = this.#process.end!;
        const printed = this.#lines.printed();
        const what = printed === undefined ? `"${name}" ${how}` : `"${name}" ${how}; it ${printed}`;
        throw new Fallen(`${what}${reasonIn(stderr)}`, {
          stderr,
          // A crash this late into a query is caused by that query.
          hadAnswered: this.#answered.length > 0 && performance.now() - started < AFTERMATH_MS,
          blamePrevious: () => this.#blameLast(),
        });
      }
      if (outcome === 'aborted') {
        this.#wasInterrupted = signal.reason === 'interrupt';
        const printed = this.#lines.printed();
        await this.#process.kill();
        const stderr = this.stderr();
        if (printed === undefined || this.#wasInterrupted)
          throw new AgentError('infra', 'stopped', { stderr });
        throw new AgentError('agent', `"${name}" ${printed}`, { stderr, explainsTimeout: true });
      }
      if (outcome.ok) return outcome;
      await this.#process.kill();
      throw new AgentError('agent', `"${name}" ${outcome.why}`, { stderr: this.stderr() });
    } finally {
      if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
    }
  }

  #blameLast(): void {
    // A process that exits cleanly has done its work.
    if (this.#isBlamed || this.#process.end?.isClean === true) return;
    this.#isBlamed = true;
    const last = this.#answered.at(-1)?.about;
    if (last === undefined) return;
    const { how, stderr } = this.#process.end!;
    const what =
      last.turn === undefined ? 'this query' : `turn ${last.turn.turn} of this conversation`;
    const before = this.#answered.findLast(({ about }) => !isSameRun(about, last))?.about;
    const why = `"${this.#name}" ${how} after it had answered ${what}${before === undefined ? '' : earlier(before, last)}${reasonIn(stderr)}`;
    this.#onVoid(last, why);
  }

  /** There was an extra answer. Only answers that name their query are certain. */
  #doubt({ id }: Surplus): void {
    const doubtful = this.#answered.filter(({ about, isNamed }) =>
      id === undefined ? !isNamed : about.id === id,
    );
    for (const [i, { about }] of doubtful.entries()) {
      // The turns of a conversation are one run.
      if (doubtful.findIndex((each) => isSameRun(each.about, about)) !== i) continue;
      this.#onVoid(
        about,
        id === undefined
          ? `"${this.#name}" printed more answers than it was asked queries, and its replies have no id, so this answer may be another query's; send the "id" of the query back in each reply`
          : `"${this.#name}" printed ${about.turn === undefined ? 'two answers to this query' : 'more answers than this conversation has turns'}; print one JSON line for each, and logs to stderr`,
      );
    }
  }
}

const isSameRun = (a: RunAbout, b: RunAbout): boolean =>
  a.id === b.id && a.run === b.run && isDeepStrictEqual(a.cell, b.cell);

/** The previous query of the process, for a fault that it may have caused. */
function earlier(before: RunAbout, last: RunAbout): string {
  if (before.id !== last.id) return ` (and before it "${before.id}")`;
  return before.run === last.run ? '' : ` (and before it run ${before.run} of this query)`;
}

/** The process ended before it answered. */
export class Fallen extends AgentError {
  /** It had answered other queries before, so the last of them may have caused the fault. */
  readonly hadAnswered: boolean;
  /** Call it when another process has answered this query: the previous query caused the fault. */
  readonly blamePrevious: () => void;

  constructor(
    message: string,
    {
      stderr,
      hadAnswered,
      blamePrevious,
    }: { stderr: string; hadAnswered: boolean; blamePrevious: () => void },
  ) {
    super('agent', message, { stderr });
    this.hadAnswered = hadAnswered;
    this.blamePrevious = blamePrevious;
  }
}
