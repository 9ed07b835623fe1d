import type { Location } from '../kit/diagnostic.ts';
import type { CheckResult, CheckStatus, Layer, LayerResult } from '../results/run-result.ts';
import { emptyLayer, messagesOf, worseStatus } from '../results/status.ts';
import { type AnyCheck, type AnySetting, type CheckContext, type CheckOutcome, isCheck } from './check.ts';
import { costDetails } from './cost-details.ts';
import { CHECKS } from './index.gen.ts';
import { type Severity, severityOf } from './severity.ts';

export interface EvaluateLayerOptions {
  /** Where each check was written, by its id. */
  readonly locations?: Readonly<Record<string, Location>>;
  /** The checks to know; all of them unless given. */
  readonly checks?: readonly (AnyCheck | AnySetting)[];
}

/**
 * Runs the checks of one layer over a trace. Keys of the block that belong to no check here (judges, rules) are left to
 * their owners. A check that throws becomes an `error` of its own; the others still run.
 */
export function evaluateLayer(
  layer: Layer,
  block: Readonly<Record<string, unknown>> | undefined,
  context: Omit<CheckContext, 'siblings'>,
  options: EvaluateLayerOptions = {},
): LayerResult {
  if (block === undefined) return emptyLayer();
  const { locations, checks: all = CHECKS } = options;
  const full = withSiblings(context, block);
  const details: Record<string, unknown> = layer === 'cost' ? costDetails(full, block) : {};
  const checks: CheckResult[] = [];
  let status: CheckStatus = 'skip';
  for (const listed of checksOf(all, layer)) {
    const { check } = listed;
    const written = Object.hasOwn(block, check.key) ? block[check.key] : undefined;
    if ((written ?? check.implied) === undefined) continue;
    const outcome = outcomeOf(check, written, full);
    if (outcome === undefined) continue;
    // A check that was not written keeps its own severity, whatever the block says of the others.
    const severity = severityOf(check, written === undefined ? undefined : block);
    const result = resultOf(listed.id, outcome, severity, locations);
    status = worseStatus(status, result.status);
    checks.push(result);
    if (outcome.details !== undefined) Object.assign(details, outcome.details);
  }
  return { status, messages: messagesOf(checks), details, checks };
}

/** Made for every block of every query: written out, since spreading costs more than the rest of it. */
const withSiblings = (
  { trace, totals, baseline }: Omit<CheckContext, 'siblings'>,
  siblings: CheckContext['siblings'],
): CheckContext => (baseline === undefined ? { trace, totals, siblings } : { trace, totals, siblings, baseline });

type Attempt = CheckOutcome | { readonly outcome: 'threw'; readonly message: string; readonly details?: undefined };

function outcomeOf(check: AnyCheck, written: unknown, context: CheckContext): Attempt | undefined {
  try {
    const params = written ?? check.implied?.(context);
    // Parameters were checked with the check's own schema when the spec was loaded.
    return params === undefined ? undefined : check.evaluate(params as never, context);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { outcome: 'threw', message: `${check.key} could not be evaluated: ${why}` };
  }
}

function resultOf(
  id: string,
  outcome: Attempt,
  severity: Severity,
  locations: EvaluateLayerOptions['locations'],
): CheckResult {
  const status = statusOf(outcome, severity);
  const { message } = outcome;
  const location = locationOf(id, outcome, locations);
  const result: CheckResult =
    location === undefined ? { id, status, message, evidence: [] } : { id, status, message, evidence: [], location };
  if (outcome.outcome === 'threw') return result;
  if (result.status === 'skip') result.skip_reason = outcome.reason ?? 'not_measured';
  if (outcome.value !== undefined) result.value = outcome.value;
  if (outcome.limit !== undefined) result.limit = outcome.limit;
  if (outcome.evidence !== undefined) result.evidence = [...outcome.evidence];
  return result;
}

/** A violated item of a list is shown at its own line. */
function locationOf(id: string, outcome: Attempt, locations: EvaluateLayerOptions['locations']): Location | undefined {
  if (locations === undefined) return undefined;
  const item = outcome.outcome === 'threw' ? undefined : outcome.item;
  return (item === undefined ? undefined : locations[`${id}[${item}]`]) ?? locations[id];
}

function statusOf(attempt: Attempt, severity: Severity): CheckStatus {
  switch (attempt.outcome) {
    case 'held':
      return 'pass';
    case 'violated':
      return severity;
    case 'skipped':
      return 'skip';
    case 'unmeasured':
      return severity === 'fail' ? 'error' : 'skip';
    case 'threw':
      return 'error';
  }
}

interface Listed {
  readonly id: string;
  readonly check: AnyCheck;
}

type Checks = readonly (AnyCheck | AnySetting)[];

/** The checks of each layer in their order, by the list they come from. */
const sorted = new WeakMap<Checks, Readonly<Record<Layer, readonly Listed[]>>>();

function checksOf(all: Checks, layer: Layer): readonly Listed[] {
  let lists = sorted.get(all);
  if (lists === undefined) {
    lists = { correctness: inOrder(all, 'correctness'), path: inOrder(all, 'path'), cost: inOrder(all, 'cost') };
    sorted.set(all, lists);
  }
  return lists[layer];
}

function inOrder(all: Checks, layer: Layer): Listed[] {
  return all
    .filter(isCheck)
    .filter((check) => check.layer === layer)
    .map((check) => ({ id: `${layer}.${check.key}`, check }))
    .sort((a, b) => a.check.order - b.check.order || (a.id < b.id ? -1 : 1));
}
