import type { CheckResult, CheckStatus, QueryResult, RunResult } from '@agentci/results';
import { emptyLayer, summarize } from '@agentci/results';

/** A short form of a query's result: the checks of each layer as `[id, status, message?]`. */
export interface ShortResult
  extends Partial<
    Pick<
      QueryResult,
      'query' | 'answer' | 'warnings' | 'error' | 'xfail' | 'not_run' | 'tags' | 'metrics'
    >
  > {
  id: string;
  status: CheckStatus;
  correctness?: CheckResult[];
  path?: CheckResult[];
  cost?: CheckResult[];
}

export const checkOf = (
  id: string,
  status: CheckStatus,
  rest: Partial<CheckResult> = {},
): CheckResult => ({
  id,
  status,
  message: `${id} is ${status}`,
  evidence: [],
  ...rest,
});

const layerOf = (checks: CheckResult[] | undefined, status: CheckStatus) =>
  checks
    ? { status, messages: checks.map((check) => check.message), details: {}, checks }
    : emptyLayer();

/** Creates a finished run from short results. */
export function runOf(results: readonly ShortResult[], rest: Partial<RunResult> = {}): RunResult {
  const full = results.map(
    ({ correctness, path, cost, ...result }): QueryResult => ({
      query: `question of ${result.id}`,
      tags: [],
      answer: 'ok',
      warnings: [],
      location: { file: 'agentci_spec.yaml', line: 4, column: 5 },
      correctness: layerOf(correctness, result.status),
      path: layerOf(path, result.status),
      cost: layerOf(cost, result.status),
      metrics: {},
      ...result,
    }),
  );
  const verdicts = { results: full, checks: rest.checks ?? [] };
  return {
    schema: 'agentci.results/1',
    agent: 'demo',
    run_id: 'run-1',
    spec: { file: 'agentci_spec.yaml', hash: 'sha256:0' },
    judge: { calls: 0, cost_usd: null },
    summary: summarize(verdicts),
    notices: [],
    ...verdicts,
    ...rest,
  };
}
