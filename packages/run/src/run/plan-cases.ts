import { UserError } from '@agentci/lib/problems';
import { SECRETS, secretsIn } from '@agentci/lib/secrets';
import type { Query } from '@agentci/spec';
import { secretsOfBrief } from './brief-secrets.ts';
import { Ledger } from './ledger.ts';
import { queriesOfShard } from './plan-shards.ts';
import type { RunOptions } from './run-options.ts';
import { selectedQueries } from './select-cases.ts';
import type { SuiteMetrics } from './suite-metrics.ts';

/** The work of a run. */
export interface CasePlan {
  /** The selected queries of all shards. */
  readonly selected: readonly Query[];
  /** The queries to run here. */
  readonly queries: readonly Query[];
  readonly runner: RunOptions['runner'];
  /** Recordings are judged. No agent runs. */
  readonly isRecorded: boolean;
  readonly metrics: SuiteMetrics | undefined;
  readonly ledger: Ledger;
}

/** Selects the cases and opens their ledger. Rejects contradicting options. */
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

/** Registers the secrets to mask, and the values that only look like secrets. */
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

/** Loads the metrics of the queries. A run without metrics does not load their code. */
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
      'OPTIONS_CONFLICT',
      'recordings are judged (--traces), so no agent runs that a cassette could answer',
      { hint: 'Leave out --cassette or --traces.' },
    );
  if (queue !== undefined && isRecorded)
    throw new UserError(
      'OPTIONS_CONFLICT',
      'recordings are judged here, so there is nothing for workers to run',
      { hint: 'Leave out --queue. To spread recordings over machines, use --shard.' },
    );
}
