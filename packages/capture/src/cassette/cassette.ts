import type { Broken, Route } from '../exchange.ts';
import type { StoredRequest } from './canonical.ts';
import type { McpCall } from './mcp-call.ts';
import type { UserWords } from './user-words.ts';

export const CASSETTE_SCHEMA = 'agentci.cassette/1';

/** One request to a model and its reply, as they are kept for replay. */
export interface CassetteEntry extends StoredRequest {
  /** From 1, in the order the requests began. */
  readonly i: number;
  readonly route: Route;
  readonly model?: string;
  readonly status: number;
  /** Of the reply; the few that clients act on. */
  readonly headers: Readonly<Record<string, string>>;
  /** The reply's bytes with their borders. */
  readonly chunks: readonly Buffer[];
  /** We added the wish for usage: it is hidden from a client that has no such wish. */
  readonly askedUsage?: boolean;
  /** The client hung up before the reply was over, so these are the bytes until then. */
  readonly why?: Extract<Broken, 'client_abort'>;
  /** How long the client had waited by then, in whole seconds; absent where it was less than one. */
  readonly hungUpAfterS?: number;
  /** Names of credentials that were taken out of the reply because `scrub` says so. */
  readonly scrubbed?: readonly string[];
}

/** A provider as the recorded agent knew it. */
export interface CassetteProvider {
  /** Its base address did not end as its SDKs expect. */
  readonly tail?: false;
  /** The user had set its address. */
  readonly set?: true;
  /** That address, where it was one of this machine: an agent may have it in its code as well. */
  readonly at?: string;
  /** How a server was asked that the agent names by its address; its name here does not say. */
  readonly scheme?: 'http' | 'https';
}

/** Which run of which query a cassette holds. */
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
  /** Written by hand into a recording without calls: the query is meant to be answered without a model. */
  readonly noCalls?: true;
  readonly entries: readonly CassetteEntry[];
  /** What the user of a conversation said, where a model plays it. */
  readonly user?: readonly UserWords[];
  /** What MCP servers answered; absent where they were not recorded, and answer for themselves. */
  readonly mcp?: readonly McpCall[];
}
