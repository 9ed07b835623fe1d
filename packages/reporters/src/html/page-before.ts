import { clip } from '@agentci/lib/text';
import type { PageBefore, PageBeforeQuery, QueryResult } from '@agentci/results';
import { caseText, isExpectedFailure, usagePerRun } from '@agentci/results';
import type { ReportContext } from '../reporter.ts';
import { reasonOf } from './deciding-checks.ts';

const MAX_ANSWER = 100_000;
const MAX_REASON = 400;

/** The previous run's data for a comparison. */
export function pageBefore({
  run,
  comparison,
  tools,
}: NonNullable<ReportContext['before']>): PageBefore {
  return {
    run_id: run.run_id,
    started_at: run.started_at,
    comparison,
    queries: run.results.map((result) => {
      const name = caseText(result);
      return [name, { ...comparedQuery(result), tools: tools?.get(name) }];
    }),
  };
}

/** A query as one side of a pair. */
export function comparedQuery(result: QueryResult): PageBeforeQuery {
  const { status, xfail, answer, runs } = result;
  const reason = reasonOf(result);
  return {
    status: isExpectedFailure(result) ? status : (xfail?.status ?? status),
    answer: answer === null ? null : clip(answer, MAX_ANSWER),
    reason: reason === undefined ? undefined : clip(reason, MAX_REASON),
    ...usagePerRun(result),
    runs: runs?.map(({ status: each, cost_usd, total_tokens, latency_ms }) => ({
      status: each,
      cost_usd,
      total_tokens,
      latency_ms,
    })),
  };
}
