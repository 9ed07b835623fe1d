import type { Location } from '../kit/diagnostic.ts';
import { type CheckResult, type CheckStatus, LAYERS, type Layer, type LayerResult } from '../results/run-result.ts';
import { emptyLayer, messagesOf, worstStatus } from '../results/status.ts';
import { type AnyCheck, type AnySetting, type CheckContext, type CheckOutcome, isCheck } from './check.ts';
import { costDetails } from './cost-details.ts';
import { CHECKS } from './index.gen.ts';

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
  const full: CheckContext = { ...context, siblings: block };
  const details: Record<string, unknown> = layer === 'cost' ? costDetails(full) : {};
  const checks: CheckResult[] = [];
  for (const { id, check } of checksOfLayer(options.checks ?? CHECKS, layer)) {
    if (check.implied === undefined && !isWritten(block, check.key)) continue;
    const outcome = outcomeOf(check, block, full);
    if (outcome === undefined) continue;
    const item =
      'item' in outcome && outcome.item !== undefined ? options.locations?.[`${id}[${outcome.item}]`] : undefined;
    const location = item ?? options.locations?.[id];
    checks.push(resultOf({ id, outcome, severity: check.severity, location }));
    Object.assign(details, outcome.details);
  }
  const status = worstStatus(checks.map((check) => check.status));
  return { status, messages: messagesOf(checks), details, checks };
}

const isWritten = (block: Readonly<Record<string, unknown>>, key: string): boolean =>
  Object.hasOwn(block, key) && block[key] !== undefined && block[key] !== null;

type Attempt = CheckOutcome | { readonly outcome: 'threw'; readonly message: string; readonly details?: undefined };

function outcomeOf(
  check: AnyCheck,
  block: Readonly<Record<string, unknown>>,
  context: CheckContext,
): Attempt | undefined {
  try {
    const params = isWritten(block, check.key) ? block[check.key] : check.implied?.(context);
    // Parameters were checked with the check's own schema when the spec was loaded.
    return params === undefined ? undefined : check.evaluate(params as never, context);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { outcome: 'threw', message: `${check.key} could not be evaluated: ${why}` };
  }
}

function resultOf(options: {
  id: string;
  outcome: Attempt;
  severity: AnyCheck['severity'];
  location: Location | undefined;
}): CheckResult {
  const { id, outcome, severity, location } = options;
  const result: CheckResult = { id, status: statusOf(outcome, severity), message: outcome.message, evidence: [] };
  if (location !== undefined) result.location = location;
  if (outcome.outcome === 'threw') return result;
  if (result.status === 'skip') result.skip_reason = outcome.reason ?? 'not_measured';
  if (outcome.value !== undefined) result.value = outcome.value;
  if (outcome.limit !== undefined) result.limit = outcome.limit;
  if (outcome.evidence !== undefined) result.evidence = [...outcome.evidence];
  return result;
}

function statusOf(attempt: Attempt, severity: AnyCheck['severity']): CheckStatus {
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

const sorted = new WeakMap<readonly (AnyCheck | AnySetting)[], Map<Layer, Listed[]>>();

function checksOfLayer(all: readonly (AnyCheck | AnySetting)[], layer: Layer): readonly Listed[] {
  let layers = sorted.get(all);
  if (layers === undefined) {
    const listed = all.filter(isCheck).map((check) => ({ id: `${check.layer}.${check.key}`, check }));
    listed.sort((a, b) => a.check.order - b.check.order || (a.id < b.id ? -1 : 1));
    layers = new Map(LAYERS.map((name) => [name, listed.filter(({ check }) => check.layer === name)]));
    sorted.set(all, layers);
  }
  return layers.get(layer) ?? [];
}
