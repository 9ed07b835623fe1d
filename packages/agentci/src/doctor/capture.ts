import { dirname, resolve } from 'node:path';
import type { Exchange } from '@agentci/capture';
import { createCapture, isUnnamed, PROVIDERS, receiveByTraceparent } from '@agentci/capture';
import { withDeadline } from '@agentci/lib/net';
import { UserError } from '@agentci/lib/problems';
import { plural } from '@agentci/lib/text';
import { type AgentEnd, AgentError, createRunner } from '@agentci/run';
import type { RunnerConfig, Suite } from '@agentci/spec';
import type { Io } from '../cli/io.ts';
import { cannedReply } from './canned-reply.ts';
import type { Finding } from './finding.ts';

const what = 'capture';
const TRY_MS = 60_000;
const FIX = 'docs/guide/capture.md lists the variable of each SDK, and what to do without one.';

type Started = Extract<RunnerConfig, { kind: 'command' | 'module' }>;

/**
 * What capture would see of the spec's agent. With `try`, the agent runs once against canned
 * replies, so no model is called.
 */
export async function captureFinding(
  suite: Suite,
  io: Io,
  isTried: boolean,
): Promise<Finding | undefined> {
  const { runner, dir } = suite;
  if (runner?.kind === 'http')
    return runner.spansPort === undefined ? undefined : spansFinding(runner.spansPort);
  if (
    (runner?.kind !== 'command' && runner?.kind !== 'module') ||
    (runner.capture === undefined && !isTried)
  )
    return undefined;
  const env = { ...io.env, ...runner.env };
  const cwd =
    runner.kind === 'command'
      ? resolve(dir, runner.cwd ?? '.')
      : dirname(resolve(dir, runner.module));
  try {
    const found = createCapture({ planes: ['llm'], env, cwd });
    await found.close();
    const isUnset = Object.keys(found.upstreams).length === 0;
    if (isTried) return await tried(suite, runner, { io, env, cwd, isUnset });
    const names = Object.entries(found.upstreams).map(([name, host]) => `${name} (${host})`);
    if (names.length > 0)
      return {
        what,
        status: 'ok',
        detail: `calls of ${names.join(', ')}; agentci doctor --capture tries it`,
      };
    return {
      what,
      status: 'warn',
      detail:
        'no key and no address of a provider is set, here or in .env: only calls to addresses in its code would be seen',
      fix: 'Set the key that the agent uses, or the address of its model.',
    };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { what, status: 'fail', detail: error.message, fix: error.hint ?? FIX };
  }
}

/** Checks that spans of a service can be received. Only a query shows whether it sends any. */
async function spansFinding(port: number): Promise<Finding> {
  try {
    const receiver = await receiveByTraceparent({ port });
    await receiver.close();
    const detail = `spans can be received: start the service with OTEL_EXPORTER_OTLP_ENDPOINT=${receiver.origin} and OTEL_BSP_SCHEDULE_DELAY=200`;
    return { what, status: 'ok', detail };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { what, status: 'fail', detail: error.message, fix: error.hint ?? FIX };
  }
}

const OFFERED = PROVIDERS.filter(
  ({ name, root }) => name !== 'azure' && typeof root === 'string',
).map(({ name }) => name);

/** Offers every provider, because the agent's calls show which variable it reads. */
async function tried(
  { queries, dir }: Suite,
  runner: Started,
  {
    io,
    env,
    cwd,
    isUnset,
  }: { readonly io: Io; readonly env: Io['env']; readonly cwd: string; readonly isUnset: boolean },
): Promise<Finding> {
  const [query] = queries;
  if (query === undefined)
    return { what, status: 'warn', detail: 'the spec has no query to try', fix: 'Add one.' };
  const capture = createCapture({
    planes: ['llm'],
    env,
    cwd,
    providers: OFFERED,
    answer: cannedReply,
    command: runner.kind === 'command' ? runner.command : undefined,
  });
  const seen: Exchange[] = [];
  const watch = {
    open: async () => {
      const slot = await capture.open();
      return {
        ...slot,
        env: { ...dummyKeys(slot.env), ...slot.env },
        end: async (how: AgentEnd) => {
          const result = await slot.end(how);
          seen.push(...result.evidence.exchanges);
          return result;
        },
      };
    },
  };
  const agent = await createRunner(runner, {
    dir,
    env: io.env,
    timeoutMs: TRY_MS,
    workers: 1,
    watch,
  });
  let failure = '';
  try {
    await withDeadline({ ms: TRY_MS, signal: io.signal }, ({ signal }) =>
      agent.run({ query: query.query, id: query.id, run: 1, signal }),
    );
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    // The agent may fail on a canned reply. The report still shows which variable it read.
    failure = `; the agent then failed: ${error.message}`;
  } finally {
    await agent.close();
    await capture.close();
  }
  return findingOf(seen, failure, isUnset);
}

/** Reports the providers whose calls arrived. */
function findingOf(seen: readonly Exchange[], failure: string, isUnset: boolean): Finding {
  const calls = seen.filter(({ route }) => route !== 'other');
  const honoured = [...new Set(calls.map(({ provider }) => provider))];
  if (honoured.length === 0)
    return {
      what,
      status: 'fail',
      detail: `the agent was run once and none of its calls came through${failure}${isUnset ? '; neither a key nor an address of a provider is set, here or in .env' : ''}`,
      fix: isUnset ? `Set the key that the agent uses, or the address of its model. ${FIX}` : FIX,
    };
  const variables = honoured.map((name) =>
    isUnnamed(name)
      ? `${name.slice(1)} (in its code)`
      : `${name} (${PROVIDERS.find((provider) => provider.name === name)?.variables[0]?.name ?? 'its address'})`,
  );
  return {
    what,
    status: 'ok',
    detail: `the agent was run once against canned replies: ${plural(calls.length, 'call')} of ${variables.join(', ')} came through`,
  };
}

/** Some SDKs refuse to start without a key. Their requests never leave this machine. */
const dummyKeys = (env: Io['env']): Record<string, string> =>
  Object.fromEntries(
    PROVIDERS.filter(({ name }) => OFFERED.includes(name))
      .flatMap(({ keys }) => keys.slice(0, 1))
      .filter((name) => env[name] === undefined)
      .map((name) => [name, 'agentci-doctor']),
  );
