import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  Cassette,
  CassetteName,
  CassetteProvider,
  Evidence,
  Exchange,
  UserWords,
} from '@agentci/capture';
import {
  type Capture,
  type CaptureSlot,
  CassetteSession,
  LINGER_MS,
  type MatchRules,
  matchRules,
  readCassette,
  readHeader,
  type UserTake,
  UserTape,
} from '@agentci/capture';
import { present } from '@agentci/lib/data';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import type { CassetteUse, QueryError, TraceWarning } from '@agentci/results';
import type { Lookout, RunAbout, Watch } from '../runners/runner.ts';
import {
  cassettePath,
  checkCassettePlace,
  readCassetteFile,
  readCassetteHead,
} from '../store/cassette-files.ts';
import type { CassettePlan } from './cassette-choice.ts';
import { calledLate, missMessage, reachedPast, wordsOf } from './cassette-refusals.ts';
import { proveRecording, type Recording } from './keep-recording.ts';
import { type Introductions, McpTape } from './mcp-tape.ts';
import { playedWarnings } from './played-warnings.ts';

/** One run of a query, with what its agent was answered. */
interface Playing {
  readonly about: RunAbout;
  session: CassetteSession;
  exchanges: readonly Exchange[] | undefined;
  /** What the user of a conversation says. */
  readonly tape: UserTape;
  /** What MCP servers answer; undefined where the capture does not see them, and none were recorded. */
  readonly mcp: McpTape | undefined;
  /** The cassette there is. */
  readonly cassette: Cassette | undefined;
  /** Hosts of models that were reached where nothing could be read. */
  readonly past: Set<string>;
  /** The agent made connections that could not be looked into. */
  hasUnread: boolean;
  readonly aftermath: Aftermath;
}

/** What an agent does when it has answered: one that stays may still call a model. */
interface Aftermath {
  hasCalled: boolean;
  /** The agent has ended. */
  isOver: boolean;
}

/** The cassette of a run to come, if there is one, and its file as messages name it. */
interface Loaded {
  readonly cassette: Cassette | undefined;
  readonly file: string;
}

/** What came of a run with its cassette. */
export interface Played {
  readonly use: CassetteUse;
  /** Why the run proves nothing, whatever the agent said. */
  readonly error?: QueryError;
  readonly warnings: readonly TraceWarning[];
  /** How many calls the recording holds that a new one would replace; undefined where there is nothing to replace. */
  readonly replaces?: number;
  /** Writes what was recorded, once the verdict is there. A run that went wrong does not replace a good recording. */
  readonly keep?: (wentWell: boolean) => Played;
}

/** A recording that turned out to lack a call when it had been written. */
export interface TakenBack {
  readonly about: RunAbout;
  readonly error: QueryError;
  readonly use: CassetteUse;
}

interface Written {
  readonly about: RunAbout;
  readonly use: CassetteUse;
  readonly recording: Recording;
  readonly aftermath: Aftermath;
}

/** What came of a run once its recording was written, or not. */
function keepRecording(played: Played, recording: Recording, wentWell: boolean): Played {
  try {
    const warning = recording.write(wentWell);
    if (warning === undefined) return { ...played, use: { ...played.use, new: recording.calls } };
    return { ...played, warnings: [...played.warnings, warning] };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { ...played, error: { kind: 'cassette', message: wordsOf(error) } };
  }
}

/** The cassettes of one run of a suite: read before an agent starts, answered from while it runs, written when it is done. */
export class Cassettes {
  readonly plan: CassettePlan;
  readonly #agent: string;
  readonly #now: () => number;
  readonly #recordCommand: ((about: RunAbout) => string) | undefined;
  readonly #freezeMcp: string;
  readonly #rules: MatchRules;
  readonly #loaded = new Map<string, Loaded>();
  readonly #playing = new Map<string, Playing>();
  /** Recordings of agents that stay: a call may still come that they lack. */
  #written: Written[] = [];
  #capture: Capture | undefined;
  /** Slots of agents that are still there. */
  #open = 0;
  /** When an agent last answered. */
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(
    plan: CassettePlan,
    around: {
      readonly agent: string;
      readonly now: () => number;
      /** What to type to record a run that is missing. */
      readonly recordCommand?: (about: RunAbout) => string;
      /** What to do so that MCP servers are frozen too. */
      readonly freezeMcp?: string;
    },
  ) {
    this.#recordCommand = around.recordCommand;
    this.#freezeMcp = around.freezeMcp ?? 'set "capture: [llm, mcp]" on the runner';
    this.plan = plan;
    this.#agent = around.agent;
    this.#now = around.now;
    this.#rules = matchRules(plan);
  }

  /** The providers of all these cassettes: an agent that stays for several queries needs to know them from the start. */
  providers(runs: readonly RunAbout[]): Readonly<Record<string, CassetteProvider>> {
    const all: Record<string, CassetteProvider> = {};
    for (const about of runs) {
      const path = this.#path(about);
      try {
        const head = readCassetteHead(path);
        if (head !== undefined) Object.assign(all, readHeader(head, path).providers);
      } catch (error) {
        // Said with its place when the query's turn comes.
        if (!(error instanceof UserError)) throw error;
      }
    }
    return all;
  }

  /** Reads what a run needs. Says why it cannot be run at all. */
  prepare(about: RunAbout): Played | undefined {
    try {
      this.load(about);
      return undefined;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return error.code === MISSING
        ? this.#refused('cassette_miss', missMessage(error.message))
        : this.#refused('cassette', wordsOf(error));
    }
  }

  /** As `prepare`, and throws a `UserError` that says why. */
  load(about: RunAbout): void {
    const path = this.#path(about);
    const isNew = this.plan.mode === 'record';
    // What cannot be written must not be paid for.
    if (isNew) checkCassettePlace(this.plan.dir, path);
    const text = isNew ? undefined : readCassetteFile(this.plan.dir, path);
    const file = this.#shown(path);
    const cassette = text === undefined ? undefined : readCassette(text, file);
    if (cassette !== undefined) this.#refuseForeign(cassette, about, path);
    if (this.plan.mode === 'replay' && cassette !== undefined)
      this.#refuseEmpty(cassette, about, path);
    if (this.plan.mode === 'replay' && cassette === undefined)
      throw new UserError(MISSING, this.#missing(about, path));
    this.#loaded.set(keyOf(about), { cassette, file });
  }

  #missing(about: RunAbout, path: string): string {
    const shown = this.#shown(path);
    const command = this.#recordCommand?.(about);
    const record = command === undefined ? '' : `; record it with: ${command}`;
    if (about.run > 1)
      return `run ${about.run} has no recording (${shown}): runs of one query need as many recordings, since one answer copied says nothing about how stable it is${record}`;
    return `there is no recording of this query (${shown})${record}`;
  }

  /** Without a recorded call nothing shows what the query asked: the agent may have reached its model past the capture. */
  #refuseEmpty({ entries, noCalls }: Cassette, about: RunAbout, path: string): void {
    if (entries.length > 0 || noCalls === true) return;
    const command = this.#recordCommand?.(about);
    throw new UserError(
      'CASSETTE_EMPTY',
      `${this.#shown(path)} does not hold a call of a model, so nothing can be answered from it`,
      {
        hint: `Record it again${command === undefined ? '' : ` with: ${command}`}; if the query is meant to be answered without a model, add "no_calls":true to the first line of the file.`,
      },
    );
  }

  /** Two ids can share a file where upper and lower case are the same, and files get copied. */
  #refuseForeign(cassette: Cassette, about: RunAbout, path: string): void {
    if (cassette.id === about.id && cassette.agent === this.#agent && cassette.run === about.run)
      return;
    throw new UserError(
      'CASSETTE_FOREIGN',
      `${this.#shown(path)} was recorded for run ${cassette.run} of query "${cassette.id}" of agent "${cassette.agent}"`,
      { hint: 'Move it back to where it was, or record this query again with --cassette record.' },
    );
  }

  /** Watches agents through the capture, each run with its own cassette. */
  watch(capture: Capture): Watch & { readonly close: () => Promise<void> } {
    return { open: () => this.openSlot(capture), close: capture.close };
  }

  /** A slot of the capture that plays a cassette from each `begin` on. */
  async openSlot(capture: Capture): Promise<Omit<CaptureSlot, 'begin'> & Lookout> {
    this.#capture = capture;
    this.#open++;
    let current: Playing | undefined;
    /** Of the queries that this slot has seen, in their order. */
    const begun: Aftermath[] = [];
    const introductions: Introductions = new Map();
    const slot: CaptureSlot = await capture.open({
      answer: async (asked) => current?.session.answer(asked),
      onBlocked: (host, isModel) => current?.session.blocked(host, isModel),
      expectsMore: () => current?.session.expectsMore ?? true,
      onLate: (query) => {
        const late = begun[query - 1];
        if (late !== undefined) late.hasCalled = true;
      },
      mcpLines: (server) => current?.mcp?.play(server),
    });
    return {
      ...slot,
      close: async () => {
        this.#open--;
        await slot.close();
        for (const aftermath of begun) aftermath.isOver = true;
        this.#written = this.#written.filter(
          ({ aftermath }) => aftermath.hasCalled || !aftermath.isOver,
        );
      },
      begin: (about) => {
        current = this.#begin(about, introductions);
        begun.push(current.aftermath);
        slot.begin(about);
      },
      end: async (how, begun) => {
        const playing = current;
        const result = await slot.end(how, begun);
        // Once the next query has begun, a late call would pass for one of its calls.
        if (capture.stays && this.plan.mode === 'record') await sleep(3 * LINGER_MS);
        this.#endedAt = performance.now();
        playing?.mcp?.see(result.evidence.mcp);
        playing?.session.noteUnanswered(result.evidence.exchanges);
        if (playing !== undefined) this.#notePast(playing, result.evidence);
        // The turns of a conversation are one recording.
        if (playing !== undefined)
          playing.exchanges = [...(playing.exchanges ?? []), ...result.evidence.exchanges];
        return result;
      },
    };
  }

  /**
   * Waits a moment before agents that stay for several queries are ended: what one of them began with its last answer is
   * seen only if it gets here. Whether anything was begun cannot be known: Node lists neither every timer nor every thread.
   */
  async settle(): Promise<void> {
    if (this.#open === 0 || (this.plan.mode !== 'replay' && this.#written.length === 0)) return;
    await sleep(Math.max(0, this.#endedAt + 4 * LINGER_MS - performance.now()));
  }

  /** Takes back recordings that turned out to lack a call. To be called when the agents are gone. */
  takeBack(): readonly TakenBack[] {
    const late = this.#written.filter(({ aftermath }) => aftermath.hasCalled);
    this.#written = [];
    return late.map(({ about, use, recording }) => {
      recording.takeBack();
      return { about, use, error: { kind: 'cassette', message: wordsOf(calledLate()) } };
    });
  }

  /** Calls of models that were made where nothing could be read; and connections of which no one can tell what they were for. */
  #notePast(playing: Playing, { gaps, notes }: Evidence): void {
    for (const { gap, detail = 'a model' } of gaps) {
      if (gap !== 'tunnelled') continue;
      if (this.plan.mode === 'replay') playing.session.blocked(detail, true);
      else playing.past.add(detail);
    }
    if (notes.some(({ code }) => code === 'CAPTURE_OTHER_HOSTS')) playing.hasUnread = true;
  }

  #begin(about: RunAbout, introductions: Introductions): Playing {
    const { mode, errors, repeatsLast } = this.plan;
    const key = keyOf(about);
    const before = this.#playing.get(key);
    if (before !== undefined && about.turn !== undefined && about.turn.turn > 1) return before;
    const { cassette, file } = this.#loaded.get(key) ?? {
      cassette: undefined,
      file: this.place(about),
    };
    const session = new CassetteSession({
      mode,
      rules: this.#rules,
      errors,
      repeatsLast,
      cassette,
      file,
    });
    const tape = new UserTape(mode, cassette?.user ?? [], file);
    const isWatched = this.#capture?.planes.includes('mcp') ?? false;
    const mcp =
      isWatched || cassette?.mcp !== undefined
        ? new McpTape(mode, cassette?.mcp, { file, introductions, isWatched })
        : undefined;
    const playing: Playing = {
      about,
      session,
      exchanges: undefined,
      tape,
      mcp,
      cassette,
      past: new Set(),
      hasUnread: false,
      aftermath: { hasCalled: false, isOver: false },
    };
    this.#playing.set(key, playing);
    return playing;
  }

  /** What the user of a conversation says next, if the cassette knows. Whoever has to ask tells with `keepUserWords`. */
  takeUserWords(about: RunAbout, key: string, said: number): UserTake {
    return this.#playing.get(keyOf(about))?.tape.take(key, said) ?? { kind: 'ask' };
  }

  keepUserWords(about: RunAbout, words: UserWords): void {
    this.#playing.get(keyOf(about))?.tape.keep(words);
  }

  /** Whether the cassette lacked an answer: another try would lack it too. */
  hasMissed(about: RunAbout): boolean {
    const playing = this.#playing.get(keyOf(about));
    return playing !== undefined && missIn(playing) !== undefined;
  }

  /** What came of a run whose agent failed. Nothing is written: what there was stays. */
  abandon(about: RunAbout): Played | undefined {
    const playing = this.#take(about);
    if (playing === undefined) return undefined;
    const missText = missIn(playing);
    return {
      use: this.#use(playing),
      warnings: [],
      error:
        missText === undefined
          ? undefined
          : { kind: 'cassette_miss', message: missMessage(missText) },
    };
  }

  #take(about: RunAbout): Playing | undefined {
    const playing = this.#playing.get(keyOf(about));
    this.#playing.delete(keyOf(about));
    this.#loaded.delete(keyOf(about));
    return playing;
  }

  /** What came of a run whose agent answered. */
  finish(about: RunAbout): Played | undefined {
    const playing = this.#take(about);
    if (playing === undefined) return undefined;
    const { session } = playing;
    const use = this.#use(playing);
    const missText = missIn(playing);
    if (missText !== undefined)
      return {
        use,
        warnings: [],
        error: { kind: 'cassette_miss', message: missMessage(missText) },
      };
    const warnings = playedWarnings(this.plan.mode, playing, { freezeMcp: this.#freezeMcp });
    if (this.plan.mode === 'replay' && use.hits === 0 && session.size > 0)
      return {
        use,
        warnings,
        error: {
          kind: 'cassette',
          message: `none of the ${plural(session.size, 'recorded call')} was made: the agent answered without its model, or reached it past the cassette`,
        },
      };
    if (this.plan.mode !== 'replay' && playing.past.size > 0)
      return {
        use,
        warnings,
        error: {
          kind: 'cassette',
          message: wordsOf(reachedPast([...playing.past].sort().join(', '))),
        },
      };
    try {
      const recording = this.#record(playing);
      if (recording === undefined) return { use, warnings };
      const ended: Played = {
        use,
        warnings,
        replaces: recording.earlier || undefined,
      };
      return { ...ended, keep: (wentWell) => this.#keep(playing, ended, { recording, wentWell }) };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return { use, warnings, error: { kind: 'cassette', message: wordsOf(error) } };
    }
  }

  #keep(
    { about, aftermath }: Playing,
    ended: Played,
    { recording, wentWell }: { readonly recording: Recording; readonly wentWell: boolean },
  ): Played {
    if (aftermath.hasCalled)
      return { ...ended, error: { kind: 'cassette', message: wordsOf(calledLate()) } };
    const kept = keepRecording(ended, recording, wentWell);
    const isWritten = kept.error === undefined && kept.warnings.length === ended.warnings.length;
    if (isWritten && !aftermath.isOver)
      this.#written.push({ about, use: ended.use, recording, aftermath });
    return kept;
  }

  /** What is new, proved. Old entries are replaced only when the run has its verdict. */
  #record({
    about,
    session,
    exchanges = [],
    tape,
    mcp,
    cassette: before,
  }: Playing): Recording | undefined {
    const { dir, ignore, scrub, mode } = this.plan;
    const entries =
      mode === 'replay'
        ? undefined
        : (session.entries(exchanges) ?? (tape.hasNew ? (before?.entries ?? []) : undefined));
    if (entries === undefined) return undefined;
    const path = this.#path(about);
    const called = new Set(entries.map(({ provider }) => provider));
    const { id, run, cell } = about;
    const name: CassetteName = {
      agent: this.#agent,
      id,
      run,
      cell,
    };
    const cassette: Cassette = {
      ...name,
      recordedAt: new Date(this.#now()).toISOString(),
      tool: TOOL,
      providers: joinProviders(
        this.#capture?.providersOf(called) ?? {},
        before?.providers,
        session.servers(exchanges),
      ),
      ignore,
      scrub,
      entries,
      user: tape.words.length !== 0 ? tape.words : undefined,
      ...mcpIn(mcp, before, this.#now),
    };
    const place = { dir, path, shown: this.#shown(path) };
    const calls = entries.length - session.size;
    return proveRecording(cassette, { rules: this.#rules, place, calls, adds: mode === 'auto' });
  }

  #use({ session, tape, mcp, hasUnread }: Playing): CassetteUse {
    const { hits, misses, scrubbed, unused, asked } = session.counts();
    const { mode } = this.plan;
    const missed = misses + (tape.missText === undefined ? 0 : 1) + (mcp?.misses ?? 0);
    const isFrozen = mode === 'replay' || (mode === 'auto' && hits > 0 && asked === 0);
    return {
      mode,
      hits,
      misses: missed,
      scrubbed,
      unused: unused + (mcp?.unused ?? 0),
      user_hits: tape.words.length !== 0 ? tape.hits : undefined,
      new: mode === 'replay' ? undefined : 0,
      asked: mode === 'replay' ? undefined : asked,
      isolated: mode === 'replay' && hits > 0 && missed === 0 && !hasUnread && mcp?.isLive !== true,
      planes: isFrozen ? present(['llm', mcp?.isFrozen ? 'mcp' : undefined]) : [],
      mcp_hits: mcp?.isFrozen || mcp?.isPassedBy ? mcp.hits : undefined,
      mcp_unused: mcp?.isFrozen || mcp?.isPassedBy ? mcp.unused : undefined,
      unused_exchanges:
        unused === 0 || mode === 'record' ? undefined : session.unusedEntries().map(({ i }) => i),
      causes: session.causes.length !== 0 ? [...new Set(session.causes)] : undefined,
    };
  }

  #refused(kind: QueryError['kind'], message: string): Played {
    const { mode } = this.plan;
    const use = {
      mode,
      hits: 0,
      misses: kind === 'cassette_miss' ? 1 : 0,
      scrubbed: 0,
      unused: 0,
      isolated: false,
      planes: [],
    };
    return { use, error: { kind, message }, warnings: [] };
  }

  /** The file of a run, as messages name it. */
  place(about: RunAbout): string {
    return this.#shown(this.#path(about));
  }

  #path = (about: RunAbout): string =>
    cassettePath(this.plan.dir, { agent: this.#agent, ...about });

  #shown = (path: string): string => join(this.plan.shownDir, relative(this.plan.dir, path));
}

/** Without a version: a recording made again should differ in what was said, not in who wrote it down. */
const TOOL = 'agentci';

const missIn = ({ session, tape, mcp }: Playing): string | undefined =>
  session.missText ?? tape.missText ?? mcp?.missText;

/** A recording that is added to keeps what it says of its providers: the earlier calls were made so. */
const joinProviders = (
  called: Cassette['providers'],
  before: Cassette['providers'] = {},
  servers: Cassette['providers'] = {},
): Cassette['providers'] =>
  Object.fromEntries(
    Object.entries(called).map(([name, provider]) => [
      name,
      { ...servers[name], ...(before[name] ?? provider) },
    ]),
  );

/** What MCP servers answered, where the recording is new; one that is added to keeps what it has. */
const mcpIn = (
  tape: McpTape | undefined,
  before: Cassette | undefined,
  now: () => number,
): { mcp?: NonNullable<Cassette['mcp']> } => {
  if (before?.mcp !== undefined) return { mcp: before.mcp };
  return tape === undefined ? {} : { mcp: tape.record(now) };
};

const MISSING = 'CASSETTE_MISSING';

const keyOf = ({ id, run, cell }: RunAbout): string => JSON.stringify([id, run, cell ?? null]);
