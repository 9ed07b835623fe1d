import type { Exchange } from '../exchange.ts';

/** A reply that does not come from the upstream: from a cassette, or put there to see what the agent does. */
export interface ServedReply {
  readonly served: NonNullable<Exchange['served']>;
  /** Its number in the cassette. */
  readonly recordedI?: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: readonly Buffer[];
  /** Usage in the chunks was not asked for by this client. */
  readonly hidesUsage?: boolean;
  /** The reply has no end: whoever was served it first hung up. */
  readonly cutOff?: {
    /** Clients get so long to hang up again; then the connection is broken off. */
    readonly waitMs: number;
    /** Told when one did not. */
    readonly onReadOn: () => void;
  };
}

/** A request to a model. */
interface Asked {
  readonly provider: string;
  readonly route: Exchange['route'];
  readonly method: string;
  readonly uri: string;
  /** What follows the provider's address, keys and all. */
  readonly path: string;
  readonly body: Buffer;
  readonly encoding: string | undefined;
}

/** What may look at a request before it is sent on, and answer in the upstream's place. */
export type Answer = (asked: Asked) => Promise<ServedReply | undefined>;
