import { randomUUID } from 'node:crypto';
import { present } from '@agentci/lib/data';
import type { CaptureResult } from './captured-run.ts';
import type { CassetteProvider } from './cassette/cassette.ts';
import {
  dummyKeys,
  missingKeys,
  namedProviders,
  providersOfCassette,
  providersToKeep,
} from './cassette/replay-environment.ts';
import { providerSettings } from './dotenv.ts';
import { EarlierTurns } from './earlier-turns.ts';
import { type ProviderChoice, providerEnvironment, providersInUse } from './environment.ts';
import type { Exchange } from './exchange.ts';
import { openFront } from './front.ts';
import { knownAgent } from './known-agents.ts';
import { type McpPlane, openMcpPlane } from './mcp/mcp-plane.ts';
import type { Answer } from './model/answer.ts';
import { isLoopback } from './model/model-call.ts';
import { openModelPlane } from './model/model-plane.ts';
import { openConnections } from './model/upstream.ts';
import { openOtlpPlane } from './otlp/otlp-plane.ts';
import type {
  AgentEnd,
  Begun,
  CaptureNote,
  Evidence,
  Plane,
  PlaneContext,
  PlaneName,
  PlaneReport,
} from './plane.ts';
import { preloadEnvironment } from './preload/environment.ts';
import {
  EXAMPLE_HOSTS,
  isModelHost,
  MODEL_HOSTS,
  PROVIDERS,
  plainHost,
  providerOfHost,
} from './providers.ts';
import { openTunnelProxy } from './tunnel/tunnel-proxy.ts';
import { portOf } from './tunnel/user-proxy.ts';
import type { Upstream } from './upstreams.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface CaptureOptions extends ProviderChoice {
  readonly planes: readonly PlaneName[];
  /** The environment of the agent without the capture, including `runner.env`. */
  readonly env: Env;
  /** The folder of the agent, which may contain `.env` files. */
  readonly cwd: string;
  /** The command, if a program is started. */
  readonly command?: readonly string[];
  /** The program is reused for the next query, as a module is. */
  readonly stays?: boolean;
  readonly answer?: Answer;
  /** Sends nothing upstream. Cassettes recorded with these providers answer the agent. */
  readonly offline?: { readonly providers: Readonly<Record<string, CassetteProvider>> } | undefined;
  /**
   * Providers of the cassettes that answer some calls. They are captured in addition to those of
   * the environment, and an agent without their keys gets placeholders.
   */
  readonly recorded?: Readonly<Record<string, CassetteProvider>> | undefined;
  /** The configuration of the agent's MCP servers, from its folder. For the plane `mcp`. */
  readonly mcpConfig?: string;
  /** Called with every finished exchange and the id of its run. */
  readonly onExchange?: (exchange: Exchange, run: string) => void;
  /** Called with every request of spans and logs, as JSON. */
  readonly onTelemetry?: (request: unknown) => void;
  /** Called with findings that belong to no query. */
  readonly onNote?: (note: CaptureNote) => void;
  readonly now?: () => number;
}

/** Captures agents for a whole run. */
export type { CaptureResult } from './captured-run.ts';

export interface Capture {
  readonly planes: readonly PlaneName[];
  /** Agents are persistent programs, and their calls do not name the query. */
  readonly stays: boolean;
  /** Findings about the environment, for users. Reported once. */
  readonly notes: readonly CaptureNote[];
  /** The captured providers, and the hosts of their calls. */
  readonly upstreams: Readonly<Record<string, string>>;
  /** The provider settings that a cassette stores for these calls. */
  readonly providersOf: (called: ReadonlySet<string>) => Readonly<Record<string, CassetteProvider>>;
  readonly open: (hooks?: SlotHooks) => Promise<CaptureSlot>;
  readonly close: () => Promise<void>;
}

/** Hooks of one slot that answer in place of upstreams. */
export interface SlotHooks {
  readonly answer?: Answer | undefined;
  /** Called for every connection that was refused in offline mode. */
  readonly onBlocked?: ((host: string, isModel: boolean) => void) | undefined;
  readonly expectsMore?: (() => boolean) | undefined;
  /**
   * Called for every call that came after the end of its query, with the number of the query in
   * this slot, from 1.
   */
  readonly onLate?: ((query: number) => void) | undefined;
  /**
   * The recorded replies of an MCP server for the next query, as lines of a tap. Undefined if the
   * server runs live.
   */
  readonly mcpLines?: ((server: string) => string | undefined) | undefined;
}

type TurnOf = Parameters<EarlierTurns['before']>[0];

/** A front for one agent at a time. */
export interface CaptureSlot {
  /** The complete environment of the agent. */
  readonly env: Env;
  /** Arguments to insert after the program's name. */
  readonly args: readonly string[];
  /** Rewrites an argument of the program for the capture. */
  readonly rewrite: (argument: string) => string;
  readonly set: Readonly<Record<string, string>>;
  /** `turn`: set in a conversation, whose turns are one run. */
  readonly begin: (about?: { readonly turn?: TurnOf | undefined }) => void;
  /** `itself`: the agent ended, or answered, by itself. */
  readonly end: (how: AgentEnd, begun?: Begun) => Promise<CaptureResult>;
  readonly report: () => Readonly<Record<string, PlaneReport>>;
  /** Changes that the capture makes to this agent. */
  readonly notes: readonly CaptureNote[];
  readonly close: () => Promise<void>;
}

/** Node caches random values for UUIDs, but not for `randomBytes`. */
const newRunId = (): string => randomUUID().replaceAll('-', '').slice(16);

/** Maximum wait for calls in flight when an agent ends. */
const MAX_DRAIN_MS = 5000;
/** Spans come in batches. After this much silence no more are expected. */
const QUIET_MS = 300;
/**
 * Calls that a function or a persistent program starts with its answer reach the front in this
 * time.
 */
export const LINGER_MS = 25;

/** Prepares to capture agents that have this environment. */
export function createCapture(options: CaptureOptions): Capture {
  const { env, now = Date.now, offline, recorded = {} } = options;
  const settings = { ...providerSettings(options.cwd), ...withoutEmpty(env) };
  const found =
    offline === undefined
      ? providersInUse(settings, {
          ...options,
          providers: [...(options.providers ?? []), ...namedProviders(recorded)],
        })
      : providersOfCassette(settings, offline.providers);
  const connections = openConnections(env);
  const refusesUsage = new Set<string>();
  const hasPlane = (name: PlaneName): boolean => options.planes.includes(name);

  // Files on other machines are not accessible.
  const startsPrograms = options.command === undefined || options.command.length > 0;
  const upstreams = found.inUse.map(({ upstream }) => upstream);
  const ownRoots = upstreams.map(({ root }) => new URL(root));
  const ownHosts = ownRoots.map(({ hostname }) => hostname);
  const isOwnHost = (host: string, port: number): boolean =>
    ownRoots.some((root) =>
      isLoopback(host)
        ? isLoopback(root.hostname) && portOf(root) === port
        : root.hostname === host,
    );
  const providers = found.inUse.map(({ provider }) => provider.name);
  /**
   * Without the proxy a client would have reached the host it named. Only --upstream applies to
   * every client.
   */
  const upstreamOfHost = (host: string): Upstream | undefined => {
    const provider = providerOfHost(host)?.name;
    if (provider === undefined) return undefined;
    const chosen = options.upstreams?.[provider] === undefined ? undefined : provider;
    const upstream = upstreams.find((one) => one.provider === chosen);
    return upstream ?? { provider, root: `https://${plainHost(host)}`, isOwn: false };
  };

  const asked = new Set<string>();
  let setUp: readonly CaptureNote[] = [];
  const isOfUse = ({ provider }: CaptureNote): boolean =>
    provider === undefined || asked.has(provider);
  const noteAsked = (provider: string): void => {
    if (asked.has(provider)) return;
    asked.add(provider);
    for (const note of setUp) if (note.provider === provider) options.onNote?.(note);
  };

  const openPlanes = (
    context: PlaneContext,
    {
      runId,
      turnNow,
    }: { readonly runId: () => string; readonly turnNow: () => TurnOf | undefined },
    hooks: SlotHooks = {},
  ): Plane[] =>
    present([
      ...(hasPlane('llm')
        ? [
            openModelPlane(context, {
              upstreams,
              upstreamOfHost,
              environment: () => {
                const { set, notes = [] } = providerEnvironment(
                  context.base,
                  found,
                  offline === undefined ? env : withRecordedAddresses(env, offline.providers),
                );
                const preload = startsPrograms
                  ? preloadEnvironment(context, {
                      hosts: MODEL_HOSTS,
                      upstreams,
                      isOffline: offline !== undefined,
                    })
                  : {};
                const keys =
                  offline === undefined
                    ? missingKeys(settings, recorded)
                    : dummyKeys(env, offline.providers);
                return { set: { ...set, ...preload, ...keys }, notes };
              },
              connections,
              answer: hooks.answer ?? options.answer,
              isOffline: offline !== undefined,
              expectsMore: hooks.expectsMore,
              onExchange: (exchange) => {
                noteAsked(exchange.provider);
                options.onExchange?.(exchange, runId());
              },
              refusesUsage,
              onNote: options.onNote,
              onLate: hooks.onLate,
              isTurn: () => turnNow() !== undefined,
              // Counting the calls of a program need not wait. But a recording without a late call
              // is worthless.
              lingerMs: () =>
                options.command === undefined ||
                (options.stays === true &&
                  hooks.expectsMore !== undefined &&
                  turnNow() === undefined)
                  ? LINGER_MS
                  : undefined,
            }),
            openTunnelProxy(context, {
              isModelHost: (host, port) => isModelHost(host) || isOwnHost(host, port),
              modelHosts: [...EXAMPLE_HOSTS, ...ownHosts],
              providers,
              refuses:
                offline === undefined
                  ? undefined
                  : (host, isModel) => hooks.onBlocked?.(host, isModel),
            }),
          ]
        : []),
      hasPlane('mcp') && options.mcpConfig !== undefined
        ? openMcpPlane(context, {
            config: options.mcpConfig,
            cwd: options.cwd,
            command: options.command ?? [],
            linesFor: hooks.mcpLines,
          })
        : undefined,
      hasPlane('otlp')
        ? openOtlpPlane(context, {
            endsWithRun: options.command !== undefined && options.stays !== true,
            runId: runId(),
            onTelemetry: options.onTelemetry,
          })
        : undefined,
    ]);

  const earlier = new EarlierTurns();
  let reading: typeof import('./captured-run.ts') | undefined;
  setUp = openPlanes(NOWHERE(env, now), { runId: () => '', turnNow: () => undefined }).flatMap(
    (plane) => plane.environment().notes ?? [],
  );
  return {
    planes: options.planes.filter((name) => name !== 'mcp' || options.mcpConfig !== undefined),
    stays: options.stays === true,
    get notes() {
      return setUp.filter(isOfUse).map(({ code, message }) => ({ code, message }));
    },
    upstreams: Object.fromEntries(
      found.inUse.map(({ provider, upstream }) => [provider.name, new URL(upstream.root).host]),
    ),
    providersOf: (called) => providersToKeep(found, called),
    open: async (hooks) => {
      const front = await openFront();
      let run = newRunId();
      let hasBegun = false;
      let turn: TurnOf | undefined;
      const { origin, base, token } = front;
      const planes = openPlanes(
        { origin, base, token, env, now },
        { runId: () => run, turnNow: () => turn },
        hooks,
      );
      front.serve(planes);
      const mcp = planes.find((plane): plane is McpPlane => plane.name === 'mcp');
      const wanted = planes.map((plane) => plane.environment());
      const set = Object.assign({}, ...wanted.map((environment) => environment.set)) as Record<
        string,
        string
      >;
      const known = knownAgent(options.command ?? [], set, env);
      Object.assign(set, known.set);
      const changed: Record<string, string | undefined> = { ...env, ...set };
      for (const name of wanted.flatMap(({ unset = [] }) => unset)) delete changed[name];
      return {
        env: changed,
        args: [...known.args, ...(mcp?.args(options.command?.[0] ?? '') ?? [])],
        rewrite: (argument) => mcp?.rewrite(argument) ?? argument,
        set,
        notes: known.notes,
        begin: (about) => {
          turn = about?.turn;
          // The agent was started with the id of the first query.
          if (hasBegun) run = newRunId();
          hasBegun = true;
          for (const plane of planes) plane.begin();
        },
        end: async (how, begun) => {
          const limits = { quietMs: QUIET_MS, maxMs: MAX_DRAIN_MS, ...begun };
          const parts = await Promise.all(planes.map((plane) => plane.end(limits)));
          // Loads all formats, so it is loaded while the agent already runs.
          reading ??= await import('./captured-run.ts');
          const evidence = merged(parts, how, known.notes);
          const result = reading.readLater(
            evidence,
            run,
            turn === undefined ? [] : earlier.before(turn),
          );
          if (turn !== undefined) earlier.add(turn, evidence.exchanges);
          return result;
        },
        report: () => Object.fromEntries(planes.map((plane) => [plane.name, plane.report()])),
        close: async () => {
          await Promise.all(planes.map((plane) => plane.close()));
          await front.close();
        },
      };
    },
    close: async () => connections.close(),
  };
}

/** To get the notes of planes on an environment before there is a front. */
const NOWHERE = (env: Env, now: () => number): PlaneContext => {
  const origin = 'http://127.0.0.1:0';
  return { origin, base: origin, token: '', env, now };
};

/**
 * If the recorded agent had a custom address, it had the variable. Other variables for Azure depend
 * on whether it is set.
 */
function withRecordedAddresses(
  env: Env,
  providers: Readonly<Record<string, CassetteProvider>>,
): Env {
  const known = PROVIDERS.filter(({ name }) => providers[name]?.set === true);
  const names = known.flatMap(({ variables }) => variables.slice(0, 1).map(({ name }) => name));
  return { ...Object.fromEntries(names.map((name) => [name, 'recorded'])), ...withoutEmpty(env) };
}

/** An empty variable has no value, and must not hide the value in a file. */
const withoutEmpty = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value));

const ENDS: Readonly<Record<AgentEnd, Evidence['gaps']>> = {
  itself: [],
  stopped: [{ gap: 'ended' }],
  left: [{ gap: 'ended', detail: 'processes that it had started were still running' }],
};

function merged(
  parts: readonly Partial<Evidence>[],
  how: AgentEnd,
  notes: readonly CaptureNote[],
): Evidence {
  return {
    exchanges: parts.flatMap(({ exchanges = [] }) => exchanges),
    telemetry: parts.flatMap(({ telemetry = [] }) => telemetry),
    mcp: parts.flatMap(({ mcp = [] }) => mcp),
    gaps: [...parts.flatMap(({ gaps = [] }) => gaps), ...ENDS[how]],
    notes: [...notes, ...parts.flatMap((part) => part.notes ?? [])],
  };
}
