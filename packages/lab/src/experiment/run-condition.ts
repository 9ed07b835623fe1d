import type { QueryResult, Trial } from '@agentci/results';
import { emptyLayer } from '@agentci/results';
import type { RunEvent, RunOptions } from '@agentci/run';
import { runSuite } from '@agentci/run';
import type { Suite } from '@agentci/spec';
import type { TrialJournal } from './journal.ts';
import type { ConditionPlan, ConditionSource, ExperimentPlan } from './plan.ts';
import { failedTrial, type Scoring, trialOf } from './score-trial.ts';

/** Options for the agents of live conditions. */
export interface LiveOptions
  extends Pick<RunOptions, 'workers' | 'retries' | 'timeoutMs' | 'env' | 'signal' | 'now'> {
  readonly onEvent?: (event: ExperimentEvent) => void;
}

/** Progress events of live conditions. */
export type ExperimentEvent =
  | {
      readonly type: 'condition_started';
      readonly condition: string;
      readonly trials: number;
      /** Trials restored from an earlier start. */
      readonly madeBefore: number;
    }
  | { readonly type: 'condition_ended'; readonly condition: string }
  | { readonly type: 'trial'; readonly condition: string; readonly event: RunEvent };

type LiveCondition = ConditionPlan & {
  readonly source: Extract<ConditionSource, { kind: 'runner' }>;
};

const QUERY_ID = 'trial';

/**
 * Runs the agent of a condition once per trial, with the suite's engine: retries, timeouts, process
 * groups.
 */
export async function runCondition(
  plan: ExperimentPlan,
  condition: LiveCondition,
  {
    journal,
    options,
    scoring,
  }: { journal: TrialJournal | undefined; options: LiveOptions; scoring: Scoring },
): Promise<Trial[]> {
  const { name, source, seed } = condition;
  const { onEvent, ...running } = options;
  const trials = new Map<number, Trial>();
  for (const entry of journal?.done ?? []) {
    if (entry.condition === name && entry.run <= source.trials) trials.set(entry.run, entry.trial);
  }
  onEvent?.({
    type: 'condition_started',
    condition: name,
    trials: source.trials,
    madeBefore: trials.size,
  });
  try {
    if (trials.size < source.trials)
      await runSuite({
        // Concurrent agents would distort the measured times.
        workers: 1,
        ...running,
        suite: suiteOf(plan, condition),
        resumed: [...trials.keys()].map((run) => ({
          id: QUERY_ID,
          run,
          result: madeBefore(source.query),
        })),
        seed,
        judge: 'off',
        sink: {
          event: (event) => onEvent?.({ type: 'trial', condition: name, event }),
          record: ({ run, result }, trace) => {
            const at = { condition: name, trial: run };
            const trial =
              trace === undefined
                ? failedTrial(at, result.error?.message ?? 'no trace')
                : trialOf(trace, at, scoring);
            journal?.add({ condition: name, run, trial });
            trials.set(run, trial);
          },
        },
      });
  } finally {
    onEvent?.({ type: 'condition_ended', condition: name });
  }
  return [...trials].sort(([a], [b]) => a - b).map(([, trial]) => trial);
}

function suiteOf(plan: ExperimentPlan, { name, seed, source }: LiveCondition): Suite {
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
        // With the run number, an agent can seed its random generator.
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
