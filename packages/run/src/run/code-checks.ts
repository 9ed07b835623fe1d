import { findMetric } from '@agentci/metrics';
import type { Query } from '@agentci/spec';
import { metricRequests, withTurns } from '@agentci/spec';
import { collectAsks } from './collect-asks.ts';

/** Whether a verdict on this query needs custom code: a `code` check, or a metric of a module. */
export const needsCode = (query: Query): boolean =>
  withTurns(query).some((each) => collectAsks(each).some(({ kind }) => kind === 'code')) ||
  metricRequests(query.metrics).some(({ name }) => findMetric(name) === undefined);
