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
import type { AgentWatch, RunAbout, Watch } from '../runners/runner.ts';
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
import { playedWarnings } from './replay-warnings.ts';

/** One run of a query with its cassette. */
interface Playing {
  readonly about: RunAbout;
  session: CassetteSession;
  exchanges: readonly Exchange[] | undefined;
  /** The messages of the user of a conversation. */
  readonly tape: UserTape;
  /**
   * The replies of MCP servers. Undefined if the capture cannot see them and none were recorded.
   */
  readonly mcp: McpTape | undefined;
  /** The existing cassette. */
  readonly cassette: Cassette | undefined;
  /** Model hosts whose traffic could not be read. */
  readonly past: Set<string>;
  /** The agent made connections that could not be inspected. */
  hasUnread: boolean;
  readonly aftermath: Aftermath;
}

/** The state of an agent after its answer. A persistent agent may still call a model. */
interface Aftermath {
  hasCalled: boolean;
  /** Whether the agent has ended. */
  isOver: boolean;
}

/** The existing cassette for a run, and the name of its file in messages. */
interface Loaded {
  readonly cassette: Cassette | undefined;
  readonly file: string;
}

/** The result of a run with its cassette. */
export interface Played {
  readonly use: CassetteUse;
  /** The reason why the run proves nothing, whatever the agent answered. */
  readonly error?: QueryError;
  readonly warnings: readonly TraceWarning[];
  /**
   * Number of calls in the recording that a new one would replace. Undefined if it replaces
   * nothing.
   */
  readonly replaces?: number;
  /**
   * Writes the recording once the verdict exists. A failed run does not replace a good recording.
   */
  readonly keep?: (wentWell: boolean) => Played;
}

/** A recording that was written and then found to lack a call. */
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

/** The result of a run after its recording was written or rejected. */
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

/**
 * The cassettes of one run of a suite: read before an agent starts, served while it runs, written
 * when it is done.
 */
export class Cassettes {
  readonly plan: CassettePlan;
  readonly #agent: string;
  readonly #now: () => number;
  readonly #recordCommand: ((about: RunAbout) => string) | undefined;
  readonly #freezeMcp: string;
  readonly #rules: MatchRules;
  readonly #loaded = new Map<string, Loaded>();
  readonly #playing = new Map<string, Playing>();
  /** Recordings of persistent agents. A call that they lack may still come. */
  #written: Written[] = [];
  #capture: Capture | undefined;
  /** Slots of agents that are still running. */
  #open = 0;
  /** Time of the last answer of an agent. */
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(
    plan: CassettePlan,
    around: {
      readonly agent: string;
      readonly now: () => number;
      /** The command that records a missing run. */
      readonly recordCommand?: (about: RunAbout) => string;
      /** How to record MCP servers too. */
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

  /** The providers of all these cassettes. A persistent agent needs them from the start. */
  providers(runs: readonly RunAbout[]): Readonly<Record<string, CassetteProvider>> {
    const all: Record<string, CassetteProvider> = {};
    for (const about of runs) {
      const path = this.#path(about);
      try {
        const head = readCassetteHead(path);
        if (head !== undefined) Object.assign(all, readHeader(head, path).providers);
      } catch (error) {
        // Reported with its place when the query is due.
        if (!(error instanceof UserError)) throw error;
      }
    }
    return all;
  }

  /** Loads the cassette of a run. Returns a result if the run is impossible. */
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

  /** Like `prepare`, but throws a `UserError` with the reason. */
  load(about: RunAbout): void {
    const path = this.#path(about);
    const isNew = this.plan.mode === 'record';
    // Check before the run, because calls that cannot be written would cost money.
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

  /**
   * Without a recorded call nothing shows that the recording belongs to the query. The agent may
   * have bypassed the capture.
   */
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

  /** Ids can share a file if the file system ignores case, and files get copied. */
  #refuseForeign(cassette: Cassette, about: RunAbout, path: string): void {
    if (cassette.id === about.id && cassette.agent === this.#agent && cassette.run === about.run)
      return;
    throw new UserError(
      'CASSETTE_DAMAGED',
      `${this.#shown(path)} was recorded for run ${cassette.run} of query "${cassette.id}" of agent "${cassette.agent}"`,
      { hint: 'Move it back to its old path, or record this query again with --cassette record.' },
    );
  }

  /** Captures agents, each run with its own cassette. */
  watch(capture: Capture): Watch & { readonly close: () => Promise<void> } {
    return { open: () => this.openSlot(capture), close: capture.close };
  }

  /** A slot of the capture that starts a new cassette at each `begin`. */
  async openSlot(capture: Capture): Promise<Omit<CaptureSlot, 'begin'> & AgentWatch> {
    this.#capture = capture;
    this.#open++;
    let current: Playing | undefined;
    /** The queries of this slot, in order. */
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
        // Once the next query has begun, a late call would be taken for one of its calls.
        if (capture.stays && this.plan.mode === 'record') await sleep(3 * LINGER_MS);
        this.#endedAt = performance.now();
        playing?.mcp?.see(result.evidence.mcp);
        playing?.session.noteUnanswered(result.evidence.exchanges);
        if (playing !== undefined) this.#notePast(playing, result.evidence);
        // All turns of a conversation share one recording.
        if (playing !== undefined)
          playing.exchanges = [...(playing.exchanges ?? []), ...result.evidence.exchanges];
        return result;
      },
    };
  }

  /**
   * Waits briefly before persistent agents are ended, so that calls started with the last answer
   * arrive. Pending calls cannot be detected, because Node does not list every timer and thread.
   */
  async settle(): Promise<void> {
    if (this.#open === 0 || (this.plan.mode !== 'replay' && this.#written.length === 0)) return;
    await sleep(Math.max(0, this.#endedAt + 4 * LINGER_MS - performance.now()));
  }

  /** Removes recordings that were found to lack a call. Call it after the agents have ended. */
  takeBack(): readonly TakenBack[] {
    const late = this.#written.filter(({ aftermath }) => aftermath.hasCalled);
    this.#written = [];
    return late.map(({ about, use, recording }) => {
      recording.takeBack();
      return { about, use, error: { kind: 'cassette', message: wordsOf(calledLate()) } };
    });
  }

  /** Notes model calls that could not be read, and connections with unknown purpose. */
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

  /**
   * The next message of the user of a conversation, if the cassette has it. Otherwise the caller
   * asks a model and reports the reply with `keepUserWords`.
   */
  takeUserWords(about: RunAbout, key: string, said: number): UserTake {
    return this.#playing.get(keyOf(about))?.tape.take(key, said) ?? { kind: 'ask' };
  }

  keepUserWords(about: RunAbout, words: UserWords): void {
    this.#playing.get(keyOf(about))?.tape.keep(words);
  }

  /** Whether the cassette lacked an answer. Another attempt would lack it too. */
  hasMissed(about: RunAbout): boolean {
    const playing = this.#playing.get(keyOf(about));
    return playing !== undefined && missIn(playing) !== undefined;
  }

  /** The result of a run whose agent failed. Writes nothing and keeps the existing recording. */
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

  /** The result of a run whose agent answered. */
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

  /** Verifies the new recording. Old entries are replaced only when the run has its verdict. */
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

  /** The file of a run, as shown in messages. */
  place(about: RunAbout): string {
    return this.#shown(this.#path(about));
  }

  #path = (about: RunAbout): string =>
    cassettePath(this.plan.dir, { agent: this.#agent, ...about });

  #shown = (path: string): string => join(this.plan.shownDir, relative(this.plan.dir, path));
}

/** Without a version: a recording made again should differ only in its content. */
const TOOL = 'agentci';

const missIn = ({ session, tape, mcp }: Playing): string | undefined =>
  session.missText ?? tape.missText ?? mcp?.missText;

/**
 * A recording that is extended keeps its provider settings, because the earlier calls used them.
 */
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

/** The recorded MCP replies for a new recording. An extended recording keeps its own. */
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
