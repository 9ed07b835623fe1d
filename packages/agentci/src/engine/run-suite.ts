import { isAbsolute, join, resolve } from 'node:path';
import { didYouMean } from '../kit/did-you-mean.ts';
import { SECRETS, secretsIn } from '../kit/secrets.ts';
import { UserError } from '../kit/user-error.ts';
import { andMore } from '../kit/words.ts';
import { RESULTS_SCHEMA, type RunResult } from '../results/run-result.ts';
import { selectQueries } from '../spec/select.ts';
import type { Query } from '../spec/suite.ts';
import { llmCalls } from '../trace/selectors.ts';
import { needsOutside } from './asks-of.ts';
import { secretsOfBrief } from './brief-secrets.ts';
import { captureHint } from './capture-hint.ts';
import { BaselineShelf } from './choose-baselines.ts';
import { collectRecorded } from './collect-recorded.ts';
import { concludeRun } from './conclude-run.ts';
import { createEvaluator, type TraceEvaluator } from './evaluate-trace.ts';
import { LateCalls } from './late-calls.ts';
import { Ledger } from './ledger.ts';
import { queriesOfShard, type ShardPlan } from './plan-shards.ts';
import type { RunEvent, RunOptions } from './run-options.ts';
import type { Recorded, RunParts } from './run-parts.ts';
import { suiteJudge } from './suite-judge.ts';
import { ToolWitness } from './tool-witness.ts';

/** Names come from recordings; more than this are not names of models. */
const MAX_MODELS = 20;

/** Runs or replays the selected queries of a suite and gives the verdicts, one result per query, in spec order. */
export async function runSuite(options: RunOptions): Promise<RunResult> {
  const { suite } = options;
  SECRETS.add(secretsIn(options.env ?? {}));
  for (const { conversation } of suite.queries)
    if (conversation?.user !== undefined) SECRETS.add(secretsOfBrief(conversation.user));
  SECRETS.spare([
    suite.agent,
    suite.file,
    ...suite.queries.flatMap(({ id, tags }) => [id, ...tags]),
  ]);
  const now = options.now ?? Date.now;
  const startedAt = now();
  const selected = selectedQueries(options);
  const queries = queriesOfShard(selected, options.shard);
  const metrics = queries.some((query) => query.metrics !== undefined)
    ? await import('./suite-metrics.ts').then(({ SuiteMetrics }) =>
        SuiteMetrics.load(options, queries),
      )
    : undefined;
  const runner = options.runner ?? suite.runner;
  if (
    options.cassette !== undefined &&
    options.cassette.mode !== 'off' &&
    options.traces !== undefined
  )
    throw new UserError(
      'CASSETTE_TRACES',
      'recordings are judged (--traces), so no agent runs that a cassette could answer',
      {
        hint: 'Leave out --cassette or --traces.',
      },
    );
  if (options.queue !== undefined && (options.traces !== undefined || isReplayRunner(runner)))
    throw new UserError(
      'QUEUE_TRACES',
      'recordings are judged here, so there is nothing for workers to run',
      {
        hint: 'Leave out --queue. To spread recordings over machines, use --shard.',
      },
    );
  const isReplay = isReplayRunner(runner);
  const isRecorded = options.traces !== undefined || isReplay;
  const ledger = new Ledger(options, queries, metrics?.note, isRecorded);
  const shelf = options.ignoresBaselines
    ? BaselineShelf.empty
    : new BaselineShelf(suite, {
        dir: options.baselineDir ?? resolve(suite.dir, suite.baselineDir),
        version: options.baseline,
      });
  const judges = suiteJudge(options, queries, ledger);
  // What the rules of all shards name is asked once, of what all of them saw.
  const witness = new ToolWitness(selected);
  if (options.resumed !== undefined && options.resumed.length > 0) witness.notSeen();
  const outside = queries.some(needsOutside)
    ? await import('./suite-outside.ts').then(({ suiteOutside }) =>
        suiteOutside(options, judges.judge),
      )
    : undefined;
  const decide = createEvaluator(judges, shelf, suite.dir, { metrics, outside });
  const audit =
    options.auditUser === true
      ? await import('./user-audit.ts').then(
          ({ UserAuditor }) => new UserAuditor(options, selected, ledger),
        )
      : undefined;
  const models = new Set<string>();
  const evaluate: TraceEvaluator = (query, trace) => {
    witness.see(trace);
    for (const { model } of llmCalls(trace))
      if (model !== undefined && models.size < MAX_MODELS) models.add(model);
    return audit === undefined
      ? decide(query, trace)
      : audit.look(query, trace).then(() => decide(query, trace));
  };
  options.onEvent?.({ type: 'started', queries: queries.length, runs: ledger.pending().length });

  const late = new LateCalls(queries);
  let user: RunResult['user'];
  let queued: readonly string[] = [];
  let unused: RunResult['unused'];
  let recorded: Recorded = { checks: [], notices: [], unmatched: 0 };
  try {
    if (options.traces !== undefined && queries.some((query) => query.test !== undefined)) {
      const { collectPolicyTests } = await import('./policy-tests.ts');
      recorded = await collectPolicyTests(options, options.traces, ledger, (trace) =>
        witness.see(trace),
      );
    } else if (options.traces !== undefined) {
      recorded = await collectRecorded(options, options.traces, queries, ledger, evaluate);
    } else if (runner === undefined) {
      throw new UserError(
        'NO_RUNNER',
        `${suite.file} has no runner and no recordings were given, so there is nothing to check`,
        {
          hint: 'Pass --traces FILE, or add a runner to the spec, e.g. `runner: {command: [python, agent.py]}`.',
        },
      );
    } else if (typeof runner !== 'function' && runner.kind === 'replay') {
      recorded = await collectRecorded(
        options,
        replayPath(suite.dir, runner.replay),
        queries,
        ledger,
        evaluate,
      );
    } else if (queries.length > 0) {
      await metrics?.noteResumed(options, ledger.runsOf);
      const onEvent = (event: RunEvent): void => {
        late.see(event);
        options.onEvent?.(event);
      };
      // Loaded here: recordings are judged without any of it.
      const { collectFromAgent } = await import('./collect-from-agent.ts');
      ({
        user,
        unused,
        notices: queued,
      } = await collectFromAgent({ ...options, onEvent }, runner, { ledger, evaluate }));
    }
  } finally {
    await outside?.close();
  }

  const results = ledger.results();
  const hint = options.traces === undefined ? captureHint(runner, results) : undefined;
  const { shard } = options;
  const parts: RunParts = {
    strict: options.strict === true,
    models: [...models].sort(),
    recorded: {
      ...recorded,
      notices: [...recorded.notices, ...queued],
      isAll: isRecorded ? true : recorded.isAll,
    },
    late: { checks: late.checks(), inReplay: late.wereInReplay },
    outside: outside?.checks() ?? [],
    tools: witness.sightings(),
    judge: judges.parts(),
    user,
    unused,
    audit: audit?.parts(),
    unpricedRuns: options.maxCostUsd === undefined ? undefined : ledger.unpricedRuns,
    baselines: shelf.notices,
    hint,
    matrix:
      suite.cells === undefined ? undefined : { cells: suite.cells, baseline: suite.baselineCell },
    metrics: metrics?.parts(ledger.runsOf) ?? [],
  };
  options.onParts?.(parts);
  const conclusion = await concludeRun({
    parts,
    results,
    isInterrupted: ledger.interrupted,
    custom: metrics?.custom,
    shard: shard === undefined ? undefined : shardOf(shard),
  });
  return {
    schema: RESULTS_SCHEMA,
    agent: suite.agent,
    run_id: options.runId ?? 'run',
    spec: { file: suite.file, hash: suite.hash },
    ...conclusion,
    started_at: new Date(startedAt).toISOString(),
    duration_ms: now() - startedAt,
  };
}

const shardOf = ({ index, count, hash, shards }: ShardPlan): NonNullable<RunResult['shard']> => ({
  index,
  count,
  plan_hash: hash,
  ids: [...shards[index - 1]!],
});

const isReplayRunner = (runner: RunOptions['runner']): boolean =>
  typeof runner === 'object' && runner.kind === 'replay';

/** A misspelt id among others would go unnoticed. */
function refuseUnknownIds({ suite, ids = [] }: RunOptions): void {
  const known = new Set(suite.queries.map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length === 0) return;
  const near = didYouMean(unknown[0]!, [...known]);
  throw new UserError(
    'QUERY_UNKNOWN',
    `${suite.file} has no query ${andMore(
      unknown.map((id) => JSON.stringify(id)),
      5,
    )}`,
    {
      hint: near === undefined ? undefined : `Did you mean "${near}"?`,
    },
  );
}

/** The queries a run is about; that there are none is the user's mistake. */
export function selectedQueries(options: RunOptions): readonly Query[] {
  const { suite } = options;
  refuseUnknownIds(options);
  const queries = selectQueries(suite, options);
  if (queries.length > 0) return queries;
  throw new UserError(
    'NOTHING_SELECTED',
    `no query of ${suite.file} was selected (it has ${suite.queries.length})`,
    {
      hint: selectionHint(options),
    },
  );
}

function selectionHint({ suite, tags, filter, cells, only }: RunOptions): string {
  if (suite.queries.length === 0) return 'The spec has no queries.';
  if (only !== undefined) return 'None of the queries to run again is among those chosen.';
  const known = [...new Set(suite.queries.flatMap((query) => query.tags))].sort();
  if (tags?.length)
    return known.length > 0
      ? `The spec's tags are: ${known.join(', ')}`
      : 'No query in the spec has tags.';
  if (filter !== undefined)
    return 'The filter looks for text in ids and queries, without regard to case.';
  if (cells !== undefined) return 'No query is run in these cells.';
  return `Its ids are: ${andMore([...new Set(suite.queries.map(({ id }) => id))], 5)}`;
}

/** Kept relative where it was written so: messages name the file the way the user does. */
const replayPath = (dir: string, path: string): string =>
  isAbsolute(path) ? path : join(dir, path);
