import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { GapNote } from '@agentci/formats';
import type { TapSession } from '@agentci/mcp';
import type { Exchange } from './exchange.ts';

export const PLANES = ['llm', 'otlp', 'mcp', 'witness'] as const;
export type PlaneName = (typeof PLANES)[number];

/** How an agent's run ended: by itself, by force, or with child processes still running. */
export type AgentEnd = 'itself' | 'stopped' | 'left';

/** The addresses of a front, and the environment of the agent without it. */
export interface PlaneContext {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** `http://127.0.0.1:PORT/r/TOKEN`. A plane's own paths are below `/NAME` of it. */
  readonly base: string;
  readonly token: string;
  /** The user's variables, with those of `runner.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

/** The changes of a plane to the agent's environment. */
export interface PlaneEnvironment {
  readonly set: Readonly<Record<string, string>>;
  /** Variables the agent must not inherit. */
  readonly unset?: readonly string[];
  /** Notes for the user: a replaced upstream, an effect on the agent. */
  readonly notes?: readonly CaptureNote[];
}

/** A sentence for the report and `capture.json`, with a code to look up. */
export interface CaptureNote {
  readonly code: string;
  readonly message: string;
  /** Relevant only if this provider is called. */
  readonly provider?: string;
}

/**
 * A request that passed the front's checks. `path` is the part after `/r/TOKEN/NAME`, with the
 * query string.
 */
export interface PlaneRequest {
  readonly path: string;
  readonly request: IncomingMessage | Http2ServerRequest;
  readonly response: ServerResponse | Http2ServerResponse;
}

/** Counts for people: `{calls: 3, incomplete: 1}`. They do not affect verdicts. */
export type PlaneReport = Readonly<Record<string, number | readonly string[]>>;

/** The observations of all planes for one query. */
export interface Evidence {
  readonly exchanges: readonly Exchange[];
  /** Requests of the OpenTelemetry protocol, as JSON. */
  readonly telemetry: readonly unknown[];
  /** The traffic between the agent and MCP servers. */
  readonly mcp: readonly TapSession[];
  /** Signs that activity bypassed the capture. */
  readonly gaps: readonly GapNote[];
  readonly notes: readonly CaptureNote[];
}

/** Time limit for the end of a query, and the known pending activity. */
export interface EndLimits extends Begun {
  readonly quietMs: number;
  readonly maxMs: number;
}

/** The activity that an agent has started by its answer, if it is known. */
export interface Begun {
  /** Number of requests to models. The pending ones are waited for. */
  readonly asked?: number | undefined;
  /** False: nothing in it knows the address for spans, so none are waited for. */
  readonly sendsSpans?: boolean | undefined;
}

/**
 * One kind of evidence about one agent. A plane belongs to a front and lives as long. `begin`
 * starts a new query. `end` waits for pending activity and returns the observations since then.
 */
export interface Plane {
  readonly name: PlaneName;
  readonly environment: () => PlaneEnvironment;
  /** Answers a request below the plane's path. */
  readonly handle: (request: PlaneRequest) => void;
  /** The path below this plane for a proxied request. Undefined if the plane does not handle it. */
  readonly claim?: (method: string, url: URL) => string | undefined;
  /** Handles a gRPC call, which has no path of ours: `/package.Service/Method`. */
  readonly grpc?: (request: Omit<PlaneRequest, 'path'>) => void;
  /** Handles a CONNECT, after the front has checked its credentials. */
  readonly tunnel?: (target: string, socket: Duplex, head: Buffer) => void;
  /**
   * Handles a proxied request to another server, with its full URL in place of a path. Its
   * credentials are checked.
   */
  readonly proxy?: (request: Omit<PlaneRequest, 'path'>) => void;
  /**
   * Handles a proxied WebSocket request: its bytes so far, and the connection. Its credentials are
   * checked.
   */
  readonly upgrade?: (url: URL, head: Buffer, socket: Duplex) => void;
  readonly begin: () => void;
  readonly end: (limits: EndLimits) => Promise<Partial<Evidence>>;
  readonly report: () => PlaneReport;
  readonly close: () => Promise<void>;
}
