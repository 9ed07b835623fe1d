import type { JudgeMode } from '../judge/mode.ts';
import type { CheckResult, SkipReason } from '../results/run-result.ts';
import type { Query } from '../spec/suite.ts';
import type { Trace } from '../trace/model.ts';
import { contextOf } from '../trace/selectors.ts';

/** The correctness keys that need a judge, in the order they are asked. */
const RUBRIC_KEYS = ['llm_judge', 'safety_check', 'hallucination_check'] as const;

/**
 * Verdicts of the rubric checks of a query. Without a judge that can be reached they are `error`, never a pass;
 * `off` skips them, and a deterministic failure makes them pointless.
 */
export function rubricChecks(input: {
  query: Query;
  trace: Trace;
  judge: JudgeMode;
  deterministicFailed: boolean;
}): CheckResult[] {
  const { query, trace, judge, deterministicFailed } = input;
  const results: CheckResult[] = [];
  if (query.correctness === undefined) return results;
  for (const key of RUBRIC_KEYS) {
    const written = query.correctness?.[key];
    if (written === undefined) continue;
    for (const index of Array.isArray(written) ? written.keys() : [undefined]) {
      const id = `correctness.${key}`;
      const location = query.locations?.[index === undefined ? id : `${id}[${index}]`] ?? query.locations?.[id];
      const place = location ? { location } : {};
      const skip = (skip_reason: SkipReason, message: string): CheckResult => ({
        id,
        status: 'skip',
        skip_reason,
        message,
        evidence: [],
        ...place,
      });
      if (judge === 'off') results.push(skip('off', 'not judged: the judge is off'));
      else if (deterministicFailed) results.push(skip('not_run', 'not judged: a deterministic check already failed'));
      else if (key === 'hallucination_check' && contextOf(trace) === undefined) {
        results.push(skip('not_measured', 'not judged: no context was captured to compare the answer with'));
      } else {
        const message = 'no judge can be reached from this version; --judge off runs the other checks';
        results.push({ id, status: 'error', message, evidence: [], ...place });
      }
    }
  }
  return results;
}
