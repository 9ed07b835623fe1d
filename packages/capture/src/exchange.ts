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
/** What a request asks of a provider, told from its path. */
export type Route = (typeof ROUTES)[number];

/** Why an exchange holds less than was sent. */
export type Broken = 'client_abort' | 'upstream_reset' | 'too_large' | 'timeout';

/**
 * One request to a model and its reply as they went over the wire: bytes, borders and times. What they mean is read
 * later, from this. No key is in it: headers come from an allow-list, query strings lose theirs.
 */
export interface Exchange {
  /** From 1, in the order the requests began. */
  readonly i: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly route: Route;
  readonly provider: string;
  readonly method: string;
  /** Where the request went, without credentials. */
  readonly uri: string;
  /** What the client asked for below its provider's address, without keys. */
  readonly path?: string;
  /** As the client sent it. */
  readonly request: Buffer;
  /** How the client packed its request, where it did. */
  readonly encoding?: string;
  /** Undefined where there was no reply. */
  readonly status: number | undefined;
  /** Of the reply; an allow-list. */
  readonly headers: Readonly<Record<string, string>>;
  /** As the upstream sent them: milliseconds since `at`, and the bytes. */
  readonly chunks: readonly (readonly [dtMs: number, bytes: Buffer])[];
  /** From the request to the first byte of the reply's body. */
  readonly ttfbMs: number | undefined;
  readonly endMs: number;
  readonly complete: boolean;
  readonly why?: Broken;
  /** Why there was no reply at all. */
  readonly error?: string;
  /** We asked the upstream for usage though the client did not, and hid it from the client. */
  readonly askedUsage?: boolean;
  /** The reply did not come from the upstream. */
  readonly served?: 'cassette' | 'injected';
  /** Its number in the cassette that answered it. */
  readonly recordedI?: number;
}

/** On replies that say that a cassette has no answer. */
export const MISS_HEADER = 'x-agentci-miss';
