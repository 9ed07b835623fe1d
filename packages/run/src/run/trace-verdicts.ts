import { resolve } from 'node:path';
import { SECRETS, secretsIn } from '@agentci/lib/secrets';
import { caseKey } from '@agentci/results';
import type { Query } from '@agentci/spec';
import { openOutside } from './case-judge.ts';
import { BaselineSet } from './choose-baselines.ts';
import { createEvaluator, type TraceEvaluator } from './evaluate-trace.ts';
import { Ledger } from './ledger.ts';
import { loadMetrics } from './plan-cases.ts';
import type { RunOptions } from './run-options.ts';
import { judgeNotices, suiteJudge } from './suite-judge.ts';

/** Verdicts on single traces, with the same services as a run: baselines, metrics, the judge. */
export interface TraceVerdicts {
  readonly evaluate: TraceEvaluator;
  readonly notices: () => string[];
  /** Ends everything that checks have started. */
  readonly close: () => Promise<void>;
}

/** For callers that judge many traces of one query, which a run does not support. */
export async function createTraceVerdicts(
  options: RunOptions,
  queries: readonly Query[],
): Promise<TraceVerdicts> {
  const { suite } = options;
  SECRETS.add(secretsIn(options.env ?? {}));
  const metrics = await loadMetrics(options, queries);
  const baselines = new BaselineSet(suite, {
    dir: options.baselineDir ?? resolve(suite.dir, suite.baselineDir),
    version: options.baseline,
  });
  const judges = suiteJudge(options, queries, new Ledger(options, queries, undefined, true));
  const outside = await openOutside(options, queries, judges);
  return {
    evaluate: createEvaluator(judges, memoized(baselines), suite.dir, { metrics, outside }),
    close: async () => outside?.close(),
    notices: () => [...baselines.notices, ...judgeNotices(judges.parts())],
  };
}

/** Each baseline is read once, even if many traces are compared with it. */
function memoized(baselines: BaselineSet): Pick<BaselineSet, 'has' | 'get'> {
  const read = new Map<string, ReturnType<BaselineSet['get']>>();
  return {
    has: baselines.has,
    get: (query) => {
      const key = caseKey(query);
      const known = read.get(key) ?? baselines.get(query);
      read.set(key, known);
      return known;
    },
  };
}
