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

/** What MCP servers answer in one run: given from the cassette, or by the servers themselves and kept. */
export class McpTape {
  readonly #known: readonly McpCall[] | undefined;
  readonly #isWatched: boolean;
  readonly #file: string;
  /** By server; what has been asked is marked in them. */
  readonly #players = new Map<string, CassettePlayer>();
  readonly #sessions: TapSession[] = [];
  readonly #introductions: Introductions;

  /**
   * `known`: undefined where the cassette was recorded without MCP, so that servers answer for themselves; so they do where
   * the capture does not see them (`isWatched`), whatever was recorded.
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

  /** Servers do not run: the cassette answers. */
  get isFrozen(): boolean {
    return this.#known !== undefined && this.#isWatched;
  }

  /** The cassette has answers of servers, and nothing is there to give them. */
  get isPassedBy(): boolean {
    return this.#known !== undefined && !this.#isWatched;
  }

  /** Servers answered for themselves, or may have where they had been frozen. */
  get isLive(): boolean {
    return this.isPassedBy || (!this.isFrozen && this.#sessions.length > 0);
  }

  /** What the tap of a server is to answer from, as lines; undefined where the server itself answers. Asked for at each turn. */
  play = (server: string): string | undefined => {
    if (this.#known === undefined) return undefined;
    return this.#player(server)
      .rest()
      .map((line) => `${stringifyExact(line)}\n`)
      .join('');
  };

  /** Takes in what passed in a run, or in one turn of a conversation. */
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

  /** Calls that were answered from the cassette: of tools, resources and prompts. */
  get hits(): number {
    return this.#all().reduce((sum, { served }) => sum + served, 0);
  }

  get misses(): number {
    return this.#all().reduce((sum, { misses }) => sum + misses.length, 0);
  }

  /** Recorded calls that were not made, or not through here. */
  get unused(): number {
    for (const { server } of this.#known ?? []) this.#player(server);
    return this.#all().reduce((sum, { unused }) => sum + unused, 0);
  }

  #all = (): CassettePlayer[] => [...this.#players.values()];

  /** What servers sent of their own and a replay does not: of those that are recorded, or of the answers that were given. */
  get leftOut(): Counts {
    if (this.#known !== undefined) return addCounts(this.#all().map(({ leftOut }) => leftOut));
    return addCounts(
      this.#sessions.flatMap(({ lines }) => entriesOf(lines).map(({ leftOut }) => leftOut)),
    );
  }

  get missText(): string | undefined {
    for (const [server, { misses }] of this.#players)
      if (misses[0] !== undefined)
        return `MCP server "${server}": ${misses[0].message.replace(/^cassette miss: /, '')} (${this.#file}); record it again with --cassette record`;
    return undefined;
  }

  /** What was recorded, proved; throws a `UserError` where it could not be given again. */
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
 * What servers said of themselves when an agent that stays first met them, by server. Each of its queries is recorded with it: in
 * replay another one may be the first.
 */
export type Introductions = Map<string, readonly McpCall[]>;

function callsIn(server: string, lines: readonly TapLine[], now: () => number): McpCall[] {
  const recording = new CassetteRecording(now);
  for (const { dir, message, masked = [], dropped } of lines) {
    if (dropped !== undefined || hasLostDigits(message)) recording.missed();
    else if (dir === 's2c' && masked.length > 0)
      throw new UserError(
        'MCP_CASSETTE_SECRET',
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

/** What a message says, without what every message has. */
const bare = ({ jsonrpc: _, id: __, ...rest }: Message): Message => rest;
