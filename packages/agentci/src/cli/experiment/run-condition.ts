import { runSuite } from '../../engine/run-suite.ts';
import { failedTrial, type Scoring, trialOf } from '../../experiment/score-trial.ts';
import type { Trial } from '../../results/experiment-result.ts';
import type { QueryResult } from '../../results/run-result.ts';
import { emptyLayer } from '../../results/status.ts';
import type { Suite } from '../../spec/suite.ts';
import type { Io } from '../io.ts';
import { startProgress } from '../progress.ts';
import type { TrialJournal } from './journal.ts';
import type { ConditionPlan, ConditionSource, ExperimentPlan } from './plan.ts';

export interface LiveOptions {
  readonly workers: number;
  readonly retries?: number;
  readonly timeoutMs?: number;
  readonly quiet: boolean;
}

const QUERY_ID = 'trial';

/** Runs the agent of a condition once a trial, through the same engine as a suite: retries, timeouts, process groups. */
export async function runCondition(
  plan: ExperimentPlan,
  condition: ConditionPlan & { readonly source: Extract<ConditionSource, { kind: 'runner' }> },
  { io, journal, options, scoring }: { io: Io; journal: TrialJournal; options: LiveOptions; scoring: Scoring },
): Promise<Trial[]> {
  const { name, source } = condition;
  const trials = new Map<number, Trial>();
  for (const entry of journal.done) {
    if (entry.condition === name && entry.run <= source.trials) trials.set(entry.run, entry.trial);
  }
  if (!options.quiet) {
    const kept = trials.size === 0 ? '' : `, ${trials.size} of them made before`;
    io.stderr.write(`agentci: ${name}: ${source.trials} trials${kept}\n`);
  }
  if (trials.size < source.trials) {
    const progress = startProgress(io, { quiet: options.quiet });
    try {
      await runSuite({
        suite: suiteOf(plan, condition),
        resumed: [...trials.keys()].map((run) => ({ id: QUERY_ID, run, result: madeBefore(source.query) })),
        workers: options.workers,
        ...(options.retries === undefined ? {} : { retries: options.retries }),
        ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
        seed: condition.seed,
        judge: 'off',
        env: io.env,
        signal: io.signal,
        now: io.now,
        onEvent: progress.onEvent,
        onRecord: ({ run, result }, trace) => {
          const at = { condition: name, trial: run };
          const trial =
            trace === undefined ? failedTrial(at, result.error?.message ?? 'no trace') : trialOf(trace, at, scoring);
          journal.add({ condition: name, run, trial });
          trials.set(run, trial);
        },
      });
    } finally {
      progress.stop();
    }
  }
  return [...trials].sort(([a], [b]) => a - b).map(([, trial]) => trial);
}

function suiteOf(
  plan: ExperimentPlan,
  { name, seed, source }: ConditionPlan & { readonly source: Extract<ConditionSource, { kind: 'runner' }> },
): Suite {
  return {
    version: 1,
    agent: name,
    file: plan.file,
    dir: plan.dir,
    hash: plan.hash,
    baselineDir: './baselines',
    runner: source.runner,
    use: [],
    queries: [
      {
        id: QUERY_ID,
        query: source.query,
        tags: [],
        runs: source.trials,
        minPassRate: 1,
        // With the number of the run an agent can make its chance repeatable.
        metadata: { experiment: plan.name, condition: name, seed },
      },
    ],
  };
}

const madeBefore = (query: string): QueryResult => ({
  id: QUERY_ID,
  query,
  tags: [],
  status: 'skip',
  answer: null,
  warnings: [],
  correctness: emptyLayer(),
  path: emptyLayer(),
  cost: emptyLayer(),
  metrics: {},
});
