import { EXPERIMENT_SCHEMA, type ExperimentResult, type Trial } from '@agentci/results';
import { compareConditions } from './compare-conditions.ts';
import { TrialJournal } from './journal.ts';
import type { ConditionPlan, ExperimentPlan } from './plan.ts';
import { readRecordings } from './read-recordings.ts';
import { readTrials } from './read-trials.ts';
import { type LiveOptions, runCondition } from './run-condition.ts';
import type { Scoring } from './score-trial.ts';
import { simulateTrials } from './simulate-trials.ts';
import { weightSensitivity } from './weight-sensitivity.ts';

export interface ExperimentOptions extends LiveOptions {
  /**
   * Finished live trials are stored in `.agentci/runs/experiments` of this folder. Not stored if
   * absent.
   */
  readonly journalDir?: string;
  /** Resumes a stopped experiment from `journalDir`. */
  readonly resume?: boolean;
}

/** Collects the trials of every condition and compares them. */
export async function runExperiment(
  plan: ExperimentPlan,
  options: ExperimentOptions = {},
): Promise<ExperimentResult> {
  const { journalDir, resume = false, ...running } = options;
  const scoring = await withPrices(plan);
  const collected: { condition: ConditionPlan; trials: Trial[] }[] = [];
  let journal: TrialJournal | undefined;
  // Conditions without agents come first, to find a bad file before money is spent or trials are
  // moved aside.
  for (const condition of [...plan.conditions].sort((a, b) => Number(live(a)) - Number(live(b)))) {
    if (running.signal?.aborted) break;
    if (journalDir !== undefined && live(condition))
      journal ??= open(plan, { cwd: journalDir, resume });
    collected.push({
      condition,
      trials: await collect({ ...plan, scoring }, condition, { journal, options: running }),
    });
  }
  collected.sort(
    (a, b) => plan.conditions.indexOf(a.condition) - plan.conditions.indexOf(b.condition),
  );
  const isExcluded = (trial: Trial, { exclude }: ConditionPlan): boolean =>
    exclude.has(String(trial.trial));
  const trials = collected.flatMap(({ condition, trials: all }) =>
    all.filter((trial) => !isExcluded(trial, condition)),
  );
  const report = compareConditions(trials);
  return {
    schema: EXPERIMENT_SCHEMA,
    experiment: plan.name,
    file: plan.file,
    hash: plan.hash,
    seed: plan.seed,
    profile: plan.profileName,
    weights: plan.scoring.weights,
    sources: plan.conditions.map(({ name, description, source: { kind } }) => ({
      condition: name,
      kind,
      description,
    })),
    ...report,
    notices: [...report.notices, ...unmatched(collected)],
    sensitivity: weightSensitivity(trials, {
      weights: plan.scoring.weights,
      step: plan.sensitivityStep,
    }),
    trials,
    excluded: collected.flatMap(({ condition, trials: all }) =>
      all
        .filter((trial) => isExcluded(trial, condition))
        .map(({ trial }) => ({ condition: condition.name, trial })),
    ),
    interrupted: running.signal?.aborted ? true : undefined,
  };
}

/**
 * Tokens without dollars get a price. The price table is loaded only if there are traces to price.
 */
async function withPrices({ scoring, conditions }: ExperimentPlan): Promise<Scoring> {
  if (!conditions.some(({ source: { kind } }) => kind === 'runner' || kind === 'traces'))
    return scoring;
  const { loadPrices } = await import('@agentci/lib/prices');
  return { ...scoring, price: (await loadPrices()).lookup };
}

const live = ({ source }: ConditionPlan): boolean => source.kind === 'runner';

const open = (
  plan: ExperimentPlan,
  { cwd, resume }: { cwd: string; resume: boolean },
): TrialJournal => (resume ? TrialJournal.reopen(plan, cwd) : TrialJournal.create(plan, cwd));

async function collect(
  plan: ExperimentPlan,
  condition: ConditionPlan,
  { journal, options }: { journal: TrialJournal | undefined; options: LiveOptions },
): Promise<Trial[]> {
  const { name, source, seed } = condition;
  const { scoring, dir } = plan;
  switch (source.kind) {
    case 'simulate':
      return simulateTrials(name, {
        simulation: source.simulation,
        trials: source.trials,
        seed,
        scoring,
      });
    case 'data':
      return readTrials({
        path: source.path,
        dir,
        wanted: source.condition,
        condition: name,
        scoring,
      });
    case 'traces':
      return readRecordings(source, { dir, condition: name, scoring });
    case 'runner':
      return runCondition(plan, { ...condition, source }, { journal, options, scoring });
    default:
      throw new Error(`unhandled source: ${JSON.stringify(source satisfies never)}`);
  }
}

/** A name in `exclude` without a trial is probably a typo. */
const unmatched = (
  collected: readonly { condition: ConditionPlan; trials: readonly Trial[] }[],
): string[] =>
  collected.flatMap(({ condition, trials }) => {
    const names = new Set(trials.map(({ trial }) => String(trial)));
    return [...condition.exclude]
      .filter((name) => !names.has(name))
      .map((name) => `${condition.name}: no trial "${name}" to exclude`);
  });
