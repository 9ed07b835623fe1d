import { CHECKS, isCheck, isOfLayer } from '@agentci/checks';
import { METRICS } from '@agentci/metrics';
import { LAYERS, type Layer } from '@agentci/results';
import { isBounded, metricRequests } from './metric-list.ts';
import { countRubrics } from './rubric.ts';
import type { Query, Suite } from './suite.ts';

const OVER_THE_RUN: ReadonlySet<string> = new Set(
  METRICS.filter(({ scope }) => scope === 'suite').map(({ name }) => name),
);

/**
 * Number of verdicts in a suite, counted like a run: each check and rubric of a query, each part of
 * a policy, each metric with a limit. Does not count checks against baselines.
 */
export function countChecks({ queries }: Suite): number {
  // A metric over the whole run is one check, even if many queries request it.
  const overall = new Set(
    queries.flatMap(({ metrics }) =>
      metricRequests(metrics)
        .filter((request) => OVER_THE_RUN.has(request.name) && isBounded(request))
        .map((request) => JSON.stringify(request)),
    ),
  );
  return queries.reduce((sum, query) => sum + checksOfQuery(query), overall.size);
}

function checksOfQuery(query: Query): number {
  if (query.test !== undefined) return 1;
  const written =
    [query, ...(query.turns ?? [])].reduce((sum, blocks) => sum + writtenIn(blocks), 0) +
    Number(query.state !== undefined);
  const policies = (query.policies ?? []).reduce(
    (sum, { hasCallRules, rules, blocklist }) =>
      sum + Number(hasCallRules) + Number(rules.length > 0) + Number(blocklist.length > 0),
    0,
  );
  const metrics = metricRequests(query.metrics).filter(
    (request) => !OVER_THE_RUN.has(request.name) && isBounded(request),
  ).length;
  return written + countRubrics(query) + policies + metrics;
}

const writtenIn = (blocks: Pick<Query, Layer>): number =>
  LAYERS.flatMap((layer) =>
    CHECKS.filter(
      (check) =>
        isCheck(check) && isOfLayer(check, layer) && (blocks[layer]?.[check.key] ?? null) !== null,
    ),
  ).length;
