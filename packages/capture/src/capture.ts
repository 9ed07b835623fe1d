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
import type { Upstream } from './upstreams.ts';
import { portOf } from './witness/user-proxy.ts';
import { openWitness } from './witness/witness.ts';

type Env = Readonly<Record<string, string | undefined>>;

export interface CaptureOptions extends ProviderChoice {
  readonly planes: readonly PlaneName[];
  /** The agent's environment without the capture, `runner.env` included. */
  readonly env: Env;
  /** The agent's folder, whose `.env` files it may read. */
  readonly cwd: string;
  /** The program, where one is started. */
  readonly command?: readonly string[];
  /** The program stays up for the next query, as a module does. */
  readonly stays?: boolean;
  readonly answer?: Answer;
  /** Nothing is sent on: the agent is answered from cassettes that were recorded with these providers. */
  readonly offline?: { readonly providers: Readonly<Record<string, CassetteProvider>> } | undefined;
  /**
   * What cassettes that some calls are answered from were recorded with. Their providers are captured beside those of the
   * environment, and an agent that has no key of theirs gets one to start with.
   */
  readonly recorded?: Readonly<Record<string, CassetteProvider>> | undefined;
  /** The configuration of the agent's MCP servers, from its folder; for the plane `mcp`. */
  readonly mcpConfig?: string;
  /** Called with every exchange when it is over, with the id of its run. */
  readonly onExchange?: (exchange: Exchange, run: string) => void;
  /** Called with every request of spans and logs, as JSON. */
  readonly onTelemetry?: (request: unknown) => void;
  /** Told what is found out while agents run and belongs to no query. */
  readonly onNote?: (note: CaptureNote) => void;
  readonly now?: () => number;
}

/** Sees what agents do, for a whole run. */
export type { CaptureResult } from './captured-run.ts';

export interface Capture {
  readonly planes: readonly PlaneName[];
  /** Agents are programs that stay for the next query: their calls do not say which one they are of. */
  readonly stays: boolean;
  /** What was found in the environment, for people; once. */
  readonly notes: readonly CaptureNote[];
  /** Which providers' calls come through it, and the hosts they go to. */
  readonly upstreams: Readonly<Record<string, string>>;
  /** What a cassette needs to know about the providers behind these calls. */
  readonly providersOf: (called: ReadonlySet<string>) => Readonly<Record<string, CassetteProvider>>;
  readonly open: (hooks?: SlotHooks) => Promise<CaptureSlot>;
  readonly close: () => Promise<void>;
}

/** Who answers in place of upstreams, for one slot. */
export interface SlotHooks {
  readonly answer?: Answer | undefined;
  /** Told of every connection that was refused because nothing may be sent on. */
  readonly onBlocked?: ((host: string, isModel: boolean) => void) | undefined;
  readonly expectsMore?: (() => boolean) | undefined;
  /** Told of every call that came when its query was over, with the number of the query in this slot, from 1. */
  readonly onLate?: ((query: number) => void) | undefined;
  /** What an MCP server is to answer from in the query that begins, as lines of a tap; undefined where it answers for itself. */
  readonly mcpLines?: ((server: string) => string | undefined) | undefined;
}

type TurnOf = Parameters<EarlierTurns['before']>[0];

/** A front for one agent at a time. */
export interface CaptureSlot {
  /** The agent's whole environment. */
  readonly env: Env;
  /** To be put after the program's name. */
  readonly args: readonly string[];
  /** An argument of the program, as it must be while it is captured. */
  readonly rewrite: (argument: string) => string;
  readonly set: Readonly<Record<string, string>>;
  /** `turn`: of a conversation, whose turns are one run. */
  readonly begin: (about?: { readonly turn?: TurnOf | undefined }) => void;
  /** `itself`: the agent ended, or answered, by itself. */
  readonly end: (how: AgentEnd, begun?: Begun) => Promise<CaptureResult>;
  readonly report: () => Readonly<Record<string, PlaneReport>>;
  /** What the capture changes about this agent. */
  readonly notes: readonly CaptureNote[];
  readonly close: () => Promise<void>;
}

/** Node draws the chance for many of these at once, and for each call of `randomBytes` anew. */
const newRunId = (): string => randomUUID().replaceAll('-', '').slice(16);

/** Calls still in flight when an agent ends get this long. */
const MAX_DRAIN_MS = 5000;
/** Spans come in batches: after so much silence no more are expected. */
const QUIET_MS = 300;
/** What a function, or a program that stays, starts with its answer reaches the front in this time. */
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

  // Elsewhere than on this machine its files are not there.
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
  /** A client that named its provider's host would have gone there; only --upstream is meant for every client. */
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
              // Whoever only counts the calls of a program need not wait for it; a recording that lacks one is worth nothing.
              lingerMs: () =>
                options.command === undefined ||
                (options.stays === true &&
                  hooks.expectsMore !== undefined &&
                  turnNow() === undefined)
                  ? LINGER_MS
                  : undefined,
            }),
            openWitness(context, {
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
          // The first query has the id that the agent was started with.
          if (hasBegun) run = newRunId();
          hasBegun = true;
          for (const plane of planes) plane.begin();
        },
        end: async (how, begun) => {
          const limits = { quietMs: QUIET_MS, maxMs: MAX_DRAIN_MS, ...begun };
          const parts = await Promise.all(planes.map((plane) => plane.end(limits)));
          // Every format is known there: an agent can start before it is loaded.
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

/** To ask what planes have to say about an environment, before there is a front. */
const NOWHERE = (env: Env, now: () => number): PlaneContext => {
  const origin = 'http://127.0.0.1:0';
  return { origin, base: origin, token: '', env, now };
};

/** Where the recorded agent had an address of its own, it had the variable: that it is set decides what is set beside Azure. */
function withRecordedAddresses(
  env: Env,
  providers: Readonly<Record<string, CassetteProvider>>,
): Env {
  const known = PROVIDERS.filter(({ name }) => providers[name]?.set === true);
  const names = known.flatMap(({ variables }) => variables.slice(0, 1).map(({ name }) => name));
  return { ...Object.fromEntries(names.map((name) => [name, 'recorded'])), ...withoutEmpty(env) };
}

/** An empty variable says nothing, and must not hide what a file says. */
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
