import type { QueryResult, Spread, Stability } from '@agentci/results';
import { checksOf } from '@agentci/results';
import { describe, passAtK, passHatK, wilsonInterval } from '@agentci/stats';
import { type FlipRun, flipSource } from './flip-source.ts';

/** The checks of a judge. All others are deterministic. */
const RUBRIC = /^correctness\.(llm_judge|safety_check|hallucination_check)/;

/** The chance that fifty of fifty pass is not useful, and the work would grow quadratically. */
const MAX_K = 10;

/**
 * Statistics of the repeats of a query: the certainty of the rate, the stability of the agent, and
 * the source of flips.
 */
export function stabilityOf(runs: readonly QueryResult[]): Stability {
  const verdicts = runs.map(flipRunOf);
  const passed = verdicts.filter((run) => run.passed === true).length;
  const decided = passed + verdicts.filter((run) => run.passed === false).length;
  const hasJudge = runs.some((run) => checksOf(run).some((check) => RUBRIC.test(check.id)));
  const flip = flipSource(verdicts, { hasJudge });
  const ks = Array.from({ length: Math.min(decided, MAX_K) }, (_, i) => i + 1);
  return {
    class: classOf(passed, decided),
    pass_rate: decided === 0 ? null : passed / decided,
    interval: wilsonInterval(passed, decided),
    pass_at_k: ks.map((k) => passAtK({ n: decided, c: passed, k })!),
    pass_hat_k: ks.map((k) => passHatK({ n: decided, c: passed, k })!),
    flip: flip !== null ? flip : undefined,
    cost_usd: spreadOf(runs, 'cost_usd'),
    latency_ms: spreadOf(runs, 'latency_ms'),
  };
}

function flipRunOf(run: QueryResult): FlipRun {
  const checks: Record<string, boolean> = {};
  let judgePassed: boolean | undefined;
  for (const { id, status } of checksOf(run)) {
    const isFailure = status === 'fail';
    if (!RUBRIC.test(id)) checks[id] = (checks[id] ?? true) && !isFailure;
    else if (status === 'pass' || isFailure) judgePassed = (judgePassed ?? true) && !isFailure;
  }
  let passed: boolean | undefined;
  if (run.status === 'pass' || run.status === 'warn') {
    passed = true;
  } else if (run.status === 'fail') {
    passed = false;
  } else {
    passed = undefined;
  }
  return {
    passed,
    answer: run.answer,
    checks,
    judgePassed,
    isInfra: run.error?.kind === 'infra' ? true : undefined,
  };
}

function spreadOf(runs: readonly QueryResult[], name: 'cost_usd' | 'latency_ms'): Spread | null {
  const values = runs.flatMap((run) => {
    const value = (run.cost.details.actual as Record<string, unknown> | undefined)?.[name];
    return typeof value === 'number' ? [value] : [];
  });
  const found = describe(values);
  return (
    found && {
      n: found.n,
      mean: found.mean,
      median: found.median,
      std: found.std,
      min: found.min,
      max: found.max,
    }
  );
}

function classOf(passed: number, decided: number): Stability['class'] {
  if (decided === 0) return null;
  if (passed === decided) return 'stable-pass';
  return passed === 0 ? 'stable-fail' : 'flaky';
}
