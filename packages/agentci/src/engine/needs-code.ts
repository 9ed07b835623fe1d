import { findMetric } from '../metrics/registry.ts';
import { withTurns } from '../spec/conversation.ts';
import { metricRequests } from '../spec/metric-list.ts';
import type { Query } from '../spec/suite.ts';
import { asksOf } from './asks-of.ts';

/** Whether a verdict on this query takes code of the user's own: a `code` check, or a metric of a module. */
export const needsCode = (query: Query): boolean =>
  withTurns(query).some((each) => asksOf(each).some(({ kind }) => kind === 'code')) ||
  metricRequests(query.metrics).some(({ name }) => findMetric(name) === undefined);
