import { UserError } from '@agentci/lib/problems';
import { SECRETS, secretsIn } from '@agentci/lib/secrets';
import type { Query } from '@agentci/spec';
import { secretsOfBrief } from './brief-secrets.ts';
import { Ledger } from './ledger.ts';
import { queriesOfShard } from './plan-shards.ts';
import type { RunOptions } from './run-options.ts';
import { selectedQueries } from './select-cases.ts';
import type { SuiteMetrics } from './suite-metrics.ts';

/** What a run is going to do. */
export interface CasePlan {
  /** What was chosen, in all shards. */
  readonly selected: readonly Query[];
  /** What is run here. */
  readonly queries: readonly Query[];
  readonly runner: RunOptions['runner'];
  /** Recordings are judged, and no agent is run. */
  readonly isRecorded: boolean;
  readonly metrics: SuiteMetrics | undefined;
  readonly ledger: Ledger;
}

/** Chooses the cases and opens their account. Refuses options that contradict each other. */
export async function planCases(options: RunOptions): Promise<CasePlan> {
  const { suite } = options;
  const selected = selectedQueries(options);
  const queries = queriesOfShard(selected, options.shard);
  const runner = options.runner ?? suite.runner;
  const isRecorded =
    options.traces !== undefined || (typeof runner === 'object' && runner.kind === 'replay');
  const metrics = await loadMetrics(options, queries);
  refuseContradictions(options, isRecorded);
  const ledger = new Ledger(options, queries, metrics?.note, isRecorded);
  return { selected, queries, runner, isRecorded, metrics, ledger };
}

/** Makes known what must not be printed or stored, and what is not secret though it may look so. */
export function registerSecrets({ suite, env = {} }: RunOptions): void {
  SECRETS.add(secretsIn(env));
  for (const { conversation } of suite.queries)
    if (conversation?.user !== undefined) SECRETS.add(secretsOfBrief(conversation.user));
  SECRETS.spare([
    suite.agent,
    suite.file,
    ...suite.queries.flatMap(({ id, tags }) => [id, ...tags]),
  ]);
}

/** The metrics that queries ask for; their code is not loaded for a run without any. */
export async function loadMetrics(
  options: RunOptions,
  queries: readonly Query[],
): Promise<SuiteMetrics | undefined> {
  if (queries.every((query) => query.metrics === undefined)) return undefined;
  const { SuiteMetrics } = await import('./suite-metrics.ts');
  return SuiteMetrics.load(options, queries);
}

function refuseContradictions(options: RunOptions, isRecorded: boolean): void {
  const { cassette, queue, traces } = options;
  if (cassette !== undefined && cassette.mode !== 'off' && traces !== undefined)
    throw new UserError(
      'CASSETTE_TRACES',
      'recordings are judged (--traces), so no agent runs that a cassette could answer',
      { hint: 'Leave out --cassette or --traces.' },
    );
  if (queue !== undefined && isRecorded)
    throw new UserError(
      'QUEUE_TRACES',
      'recordings are judged here, so there is nothing for workers to run',
      { hint: 'Leave out --queue. To spread recordings over machines, use --shard.' },
    );
}
