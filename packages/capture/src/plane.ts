import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { GapNote } from '@agentci/formats';
import type { TapSession } from '@agentci/mcp';
import type { Exchange } from './exchange.ts';

export const PLANES = ['llm', 'otlp', 'mcp', 'witness'] as const;
export type PlaneName = (typeof PLANES)[number];

/** How an agent's run ended: by itself, by force, or with processes that it had started still running. */
export type AgentEnd = 'itself' | 'stopped' | 'left';

/** Where a front can be reached, and the environment the agent would have had without it. */
export interface PlaneContext {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  /** `http://127.0.0.1:PORT/r/TOKEN`; a plane's own paths are below `/NAME` of it. */
  readonly base: string;
  readonly token: string;
  /** The user's variables, `runner.env` among them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

/** What a plane wants changed in the agent's environment. */
export interface PlaneEnvironment {
  readonly set: Readonly<Record<string, string>>;
  /** Variables the agent must not inherit. */
  readonly unset?: readonly string[];
  /** What the user should know about it: an upstream taken over, an effect on the agent. */
  readonly notes?: readonly CaptureNote[];
}

/** A sentence for the report and `capture.json`, with a code to look up. */
export interface CaptureNote {
  readonly code: string;
  readonly message: string;
  /** Of use only when this provider is asked. */
  readonly provider?: string;
}

/** A request that passed the front's checks. `path` is what follows `/r/TOKEN/NAME`, query string included. */
export interface PlaneRequest {
  readonly path: string;
  readonly request: IncomingMessage | Http2ServerRequest;
  readonly response: ServerResponse | Http2ServerResponse;
}

/** Counts for people: `{calls: 3, incomplete: 1}`. Nothing in it decides a verdict. */
export type PlaneReport = Readonly<Record<string, number | readonly string[]>>;

/** What planes saw of one query. */
export interface Evidence {
  readonly exchanges: readonly Exchange[];
  /** Requests of the OpenTelemetry protocol, as JSON. */
  readonly telemetry: readonly unknown[];
  /** What passed between the agent and MCP servers. */
  readonly mcp: readonly TapSession[];
  /** Signs that something passed the capture by. */
  readonly gaps: readonly GapNote[];
  readonly notes: readonly CaptureNote[];
}

/** How long the end of a query may take, and what is known to be on its way. */
export interface EndLimits extends Begun {
  readonly quietMs: number;
  readonly maxMs: number;
}

/** What an agent has begun by the time it answered, where that is known. */
export interface Begun {
  /** Requests to models: those on their way are waited for. */
  readonly asked?: number | undefined;
  /** False: nothing in it knows where spans go, so none are waited for. */
  readonly sendsSpans?: boolean | undefined;
}

/**
 * One kind of evidence about one agent. A plane is opened for a front and lives as long as it. `begin` starts a new query;
 * `end` waits for what is still in flight and gives what was seen since.
 */
export interface Plane {
  readonly name: PlaneName;
  readonly environment: () => PlaneEnvironment;
  /** Answers a request below the plane's path. */
  readonly handle: (request: PlaneRequest) => void;
  /** The path below this plane of a request that came as to a proxy; undefined where it is not one of its own. */
  readonly claim?: (method: string, url: URL) => string | undefined;
  /** Takes a gRPC call, which knows no path of ours: `/package.Service/Method`. */
  readonly grpc?: (request: Omit<PlaneRequest, 'path'>) => void;
  /** Takes a CONNECT, after the front has checked its credentials. */
  readonly tunnel?: (target: string, socket: Duplex, head: Buffer) => void;
  /** Takes a request to another server that came as to a proxy, its whole address in place of a path; checked likewise. */
  readonly proxy?: (request: Omit<PlaneRequest, 'path'>) => void;
  /** Takes a request for a WebSocket that came as to a proxy: its bytes so far, and the connection. Checked likewise. */
  readonly upgrade?: (url: URL, head: Buffer, socket: Duplex) => void;
  readonly begin: () => void;
  readonly end: (limits: EndLimits) => Promise<Partial<Evidence>>;
  readonly report: () => PlaneReport;
  readonly close: () => Promise<void>;
}
