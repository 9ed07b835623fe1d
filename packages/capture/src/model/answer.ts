import type { Exchange } from '../exchange.ts';

/** A reply that does not come from the upstream: from a cassette, or injected to test the agent. */
export interface ServedReply {
  readonly served: NonNullable<Exchange['served']>;
  /** Its number in the cassette. */
  readonly recordedI?: number;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly chunks: readonly Buffer[];
  /** This client did not request the usage in the chunks. */
  readonly hidesUsage?: boolean;
  /** The reply is incomplete, because the recorded client hung up. */
  readonly cutOff?: {
    /** Time for the client to hang up again. Then the connection is aborted. */
    readonly waitMs: number;
    /** Called if it did not. */
    readonly onReadOn: () => void;
  };
}

/** A request to a model. */
interface Asked {
  readonly provider: string;
  readonly route: Exchange['route'];
  readonly method: string;
  readonly uri: string;
  /** The part after the provider's address, with any keys. */
  readonly path: string;
  readonly body: Buffer;
  readonly encoding: string | undefined;
}

/** Can inspect a request before it is sent on, and answer in place of the upstream. */
export type Answer = (asked: Asked) => Promise<ServedReply | undefined>;
