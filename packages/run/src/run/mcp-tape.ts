import type { CassetteMode } from '@agentci/capture';
import { linesOfCalls, type McpCall } from '@agentci/capture';
import { isObject } from '@agentci/lib/data';
import { hasLostDigits, stringifyExact } from '@agentci/lib/json';
import { UserError } from '@agentci/lib/problems';
import { SECRETS } from '@agentci/lib/secrets';
import type { Message, TapLine, TapSession } from '@agentci/mcp';
import {
  addCounts,
  CassettePlayer,
  CassetteRecording,
  type Counts,
  entriesOf,
  STEADY,
} from '@agentci/mcp';

/** The MCP replies of one run: served from the cassette, or recorded from the servers. */
export class McpTape {
  readonly #known: readonly McpCall[] | undefined;
  readonly #isWatched: boolean;
  readonly #file: string;
  /** Players by server. They mark the replies already used. */
  readonly #players = new Map<string, CassettePlayer>();
  readonly #sessions: TapSession[] = [];
  readonly #introductions: Introductions;

  /**
   * `known` is undefined if the cassette was recorded without MCP. Then servers run live, as they
   * do if the capture cannot see them (`isWatched`).
   */
  constructor(
    mode: CassetteMode,
    known: readonly McpCall[] | undefined,
    around: {
      readonly file: string;
      readonly introductions: Introductions;
      readonly isWatched: boolean;
    },
  ) {
    this.#known = mode === 'record' ? undefined : known;
    this.#isWatched = around.isWatched;
    this.#file = around.file;
    this.#introductions = around.introductions;
  }

  /** Servers do not run. The cassette answers. */
  get isFrozen(): boolean {
    return this.#known !== undefined && this.#isWatched;
  }

  /** The cassette has replies of servers, but they cannot be served. */
  get isPassedBy(): boolean {
    return this.#known !== undefined && !this.#isWatched;
  }

  /** Servers ran live, or may have although they are recorded. */
  get isLive(): boolean {
    return this.isPassedBy || (!this.isFrozen && this.#sessions.length > 0);
  }

  /**
   * The replies for the tap of a server, as lines. Undefined if the server runs live. Called for
   * each turn.
   */
  play = (server: string): string | undefined => {
    if (this.#known === undefined) return undefined;
    return this.#player(server)
      .rest()
      .map((line) => `${stringifyExact(line)}\n`)
      .join('');
  };

  /** Adds the MCP traffic of a run, or of one turn of a conversation. */
  see(sessions: readonly TapSession[]): void {
    this.#sessions.push(...sessions);
    if (this.#known === undefined) return;
    for (const { server, lines } of sessions)
      for (const { dir, message } of lines)
        if (dir === 'c2s' && isObject(message))
          this.#player(server).answer(message, (value) => SECRETS.value(value));
  }

  #player(server: string): CassettePlayer {
    const player =
      this.#players.get(server) ??
      new CassettePlayer(
        linesOfCalls((this.#known ?? []).filter((call) => call.server === server)),
      );
    this.#players.set(server, player);
    return player;
  }

  /** Number of calls answered from the cassette: tools, resources and prompts. */
  get hits(): number {
    return this.#all().reduce((sum, { served }) => sum + served, 0);
  }

  get misses(): number {
    return this.#all().reduce((sum, { misses }) => sum + misses.length, 0);
  }

  /** Number of recorded calls that were not made, or not seen. */
  get unused(): number {
    for (const { server } of this.#known ?? []) this.#player(server);
    return this.#all().reduce((sum, { unused }) => sum + unused, 0);
  }

  #all = (): CassettePlayer[] => [...this.#players.values()];

  /**
   * Number of unsolicited server messages that a replay omits, in the recording or in the served
   * answers.
   */
  get leftOut(): Counts {
    if (this.#known !== undefined) return addCounts(this.#all().map(({ leftOut }) => leftOut));
    return addCounts(
      this.#sessions.flatMap(({ lines }) => entriesOf(lines).map(({ leftOut }) => leftOut)),
    );
  }

  get missText(): string | undefined {
    for (const [server, { misses }] of this.#players)
      if (misses[0] !== undefined)
        return `MCP server "${server}": ${misses[0].message.replace(/^cassette miss: /, '')} (${this.#file}). Record it again with --cassette record.`;
    return undefined;
  }

  /** The verified recording. Throws a `UserError` if it could not be replayed. */
  record(now: () => number): readonly McpCall[] {
    return this.#sessions.flatMap(({ server, lines }) => {
      const calls = callsIn(server, lines, now);
      if (calls.some(({ method }) => method === 'initialize')) {
        this.#introductions.set(
          server,
          calls.filter(({ method }) => STEADY.test(method)),
        );
        return calls;
      }
      return [...(this.#introductions.get(server) ?? []), ...calls];
    });
  }
}

/**
 * The handshakes of servers with a persistent agent, by server. Each of its queries is recorded
 * with them, because another query may come first in replay.
 */
export type Introductions = Map<string, readonly McpCall[]>;

function callsIn(server: string, lines: readonly TapLine[], now: () => number): McpCall[] {
  const recording = new CassetteRecording(now);
  for (const { dir, message, masked = [], dropped } of lines) {
    if (dropped !== undefined || hasLostDigits(message)) recording.missed();
    else if (dir === 's2c' && masked.length > 0)
      throw new UserError(
        'CASSETTE_SECRET',
        `the MCP server "${server}" answered with a secret, ${masked[0]}; nothing was written`,
        { hint: 'Record with another value, or without a tool that shows it.' },
      );
    else if (message !== undefined) recording.add(dir, Buffer.from(JSON.stringify(message)));
  }
  return entriesOf(recording.proved()).map(({ method, params, answer, before, after, leftOut }) => {
    const asked = {
      server,
      method,
      params,
      before: before.length !== 0 ? before.map(bare) : undefined,
      after: after.length !== 0 ? after.map(bare) : undefined,
      leftOut: Object.keys(leftOut).length !== 0 ? leftOut : undefined,
    };
    if (answer === undefined) return asked;
    return { ...asked, answer: bare(answer) };
  });
}

/** A message without the envelope fields. */
const bare = ({ jsonrpc: _, id: __, ...rest }: Message): Message => rest;
