import type { Broken, Route } from '../exchange.ts';
import type { StoredRequest } from './canonical.ts';
import type { McpCall } from './mcp-call.ts';
import type { UserWords } from './user-words.ts';

export const CASSETTE_SCHEMA = 'agentci.cassette/1';

/** One request to a model and its reply, as stored for replay. */
export interface CassetteEntry extends StoredRequest {
  /** Number from 1, in the order the requests began. */
  readonly i: number;
  readonly route: Route;
  readonly model?: string;
  readonly status: number;
  /** Reply headers that clients depend on. */
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the reply in their original chunks. */
  readonly chunks: readonly Buffer[];
  /** The capture requested usage data. It is hidden from clients that do not request it. */
  readonly askedUsage?: boolean;
  /** The client hung up before the end of the reply. These are the bytes until then. */
  readonly why?: Extract<Broken, 'client_abort'>;
  /** Seconds until the client hung up, rounded down. Absent if less than one. */
  readonly hungUpAfterS?: number;
  /** Names of credentials that `scrub` removed from the reply. */
  readonly scrubbed?: readonly string[];
}

/** The settings of a provider in the recorded agent. */
export interface CassetteProvider {
  /** Its base address lacked the suffix that its SDKs expect. */
  readonly tail?: false;
  /** The user had set its address. */
  readonly set?: true;
  /** That address, if it was local. An agent may also have it in its code. */
  readonly at?: string;
  /**
   * The protocol of a server that the agent addresses by URL, because its name does not contain it.
   */
  readonly scheme?: 'http' | 'https';
}

/** Identifies the run and query of a cassette. */
export interface CassetteName {
  readonly agent: string;
  readonly id: string;
  /** From 1. */
  readonly run: number;
  /** The combination of a matrix. */
  readonly cell?: Readonly<Record<string, string>> | undefined;
}

export interface Cassette extends CassetteName {
  /** ISO 8601. */
  readonly recordedAt: string;
  readonly tool: string;
  readonly providers: Readonly<Record<string, CassetteProvider>>;
  readonly ignore: readonly string[];
  readonly scrub: readonly string[];
  /**
   * Written by hand into a recording without calls: the query should be answered without a model.
   */
  readonly noCalls?: true;
  readonly entries: readonly CassetteEntry[];
  /** The messages of a simulated user in a conversation. */
  readonly user?: readonly UserWords[];
  /** Replies of MCP servers. Absent if they were not recorded and run live. */
  readonly mcp?: readonly McpCall[];
}
