export const ROUTES = [
  'chat',
  'responses',
  'messages',
  'generate',
  'converse',
  'invoke',
  'ollama',
  'cohere',
  'embeddings',
  'completions',
  'interactions',
  'other',
] as const;
/** The kind of a request, derived from its path. */
export type Route = (typeof ROUTES)[number];

/** The reason why an exchange is incomplete. */
export type Broken = 'client_abort' | 'upstream_reset' | 'too_large' | 'timeout';

/**
 * One request to a model and its reply on the wire: bytes, chunks and times. They are interpreted
 * later. Contains no keys: headers come from an allowlist, and query strings are cleaned.
 */
export interface Exchange {
  /** Number from 1, in the order the requests began. */
  readonly i: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly route: Route;
  readonly provider: string;
  readonly method: string;
  /** Target of the request, without credentials. */
  readonly uri: string;
  /** Path below the provider's address, without keys. */
  readonly path?: string;
  /** The request bytes of the client. */
  readonly request: Buffer;
  /** Content encoding of the request, if any. */
  readonly encoding?: string;
  /** Undefined if there was no reply. */
  readonly status: number | undefined;
  /** Reply headers from an allowlist. */
  readonly headers: Readonly<Record<string, string>>;
  /** Chunks from the upstream: milliseconds since `at`, and the bytes. */
  readonly chunks: readonly (readonly [dtMs: number, bytes: Buffer])[];
  /** Time from the request to the first byte of the reply's body. */
  readonly ttfbMs: number | undefined;
  readonly endMs: number;
  readonly complete: boolean;
  readonly why?: Broken;
  /** The reason for a missing reply. */
  readonly error?: string;
  /** The capture requested usage from the upstream, and hid it from the client. */
  readonly askedUsage?: boolean;
  /** The reply did not come from the upstream. */
  readonly served?: 'cassette' | 'injected';
  /** Its number in the cassette. */
  readonly recordedI?: number;
}

/** Set on replies for a request that a cassette lacks. */
export const MISS_HEADER = 'x-agentci-miss';
