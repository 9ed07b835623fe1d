import type { Location } from '@agentci/lib/problems';
import type { CheckPart, CheckResult, CheckStatus, Layer, LayerResult } from '@agentci/results';
import { emptyLayer, messagesOf, worseStatus } from '@agentci/results';
import {
  type AnyCheck,
  type AnySetting,
  type CheckContext,
  type CheckOutcome,
  isCheck,
  isOfLayer,
  type PartOutcome,
  type Severity,
  unmeasured,
} from './check.ts';
import { costDetails } from './cost-details.ts';
import { CHECKS } from './index.gen.ts';
import { JUDGED } from './judged.ts';
import { severityOf, writtenSeverity } from './severity.ts';
import { wantedText } from './wanted-text.ts';

export interface EvaluateLayerOptions {
  /** Spec location of each check, by id. */
  readonly locations?: Readonly<Record<string, Location>>;
  /** Known checks. Default: all. */
  readonly checks?: readonly (AnyCheck | AnySetting)[];
}

/**
 * Runs the checks of one layer over a trace. Ignores keys of judges and rules.
 * A check that throws becomes an `error`, and the others still run.
 */
export function evaluateLayer(
  layer: Layer,
  block: Readonly<Record<string, unknown>> | undefined,
  context: Omit<CheckContext, 'siblings'>,
  options: EvaluateLayerOptions = {},
): LayerResult {
  if (block === undefined) return emptyLayer();
  const { locations, checks: all = CHECKS } = options;
  const full = withSiblings(layer, context, block);
  const details: Record<string, unknown> = layer === 'cost' ? costDetails(full, block) : {};
  const checks: CheckResult[] = [];
  let status: CheckStatus = 'skip';
  for (const listed of checksFor(block, checksOf(all, layer))) {
    const { check } = listed;
    const written = Object.hasOwn(block, check.key) ? block[check.key] : undefined;
    if ((written ?? check.implied) === undefined) continue;
    const outcome = outcomeOf(check, written, full);
    if (outcome === undefined) continue;
    // An implied check keeps its own severity, whatever the block sets for the others.
    const result = resultOf(
      listed,
      outcome,
      severityOf(listed, written === undefined ? undefined : block),
      locations,
    );
    status = worseStatus(status, result.status);
    // Only for results that need attention: most pass, and this runs for each of them.
    if (result.status !== 'pass' && result.status !== 'skip') {
      const wanted = wantedText(check, written ?? check.implied?.(full));
      if (wanted !== undefined) result.wanted = wanted;
    }
    checks.push(result);
    if (outcome.details !== undefined) Object.assign(details, outcome.details);
  }
  return { status, messages: messagesOf(checks), details, checks };
}

/**
 * Written out, because it runs for every block of every query and a spread costs more than the
 * rest.
 */
const withSiblings = (
  layer: Layer,
  { trace, totals, baseline, query, asked }: Omit<CheckContext, 'siblings'>,
  siblings: CheckContext['siblings'],
): CheckContext => {
  const evaluateParts =
    (siblings.all ?? siblings.any ?? siblings.not)
      ? partsIn(
          layer,
          { trace, totals, baseline, query, asked } as CheckContext,
          writtenSeverity(siblings),
        )
      : undefined;
  return baseline === undefined
    ? { trace, totals, siblings, query, asked, evaluateParts }
    : { trace, totals, siblings, query, asked, evaluateParts, baseline };
};

/** Evaluates the blocks of a combinator, each check with the severity it would have alone. */
const partsIn =
  (layer: Layer, context: Omit<CheckContext, 'siblings'>, inherited: Severity | undefined) =>
  (block: Readonly<Record<string, unknown>>): readonly PartOutcome[] => {
    const full: CheckContext = {
      ...context,
      siblings: block,
      evaluateParts: partsIn(layer, context, writtenSeverity(block) ?? inherited),
    };
    const parts: PartOutcome[] = [];
    for (const { check, severity: own, isFixed } of checksFor(block, partChecksOf(layer))) {
      const written = Object.hasOwn(block, check.key) ? block[check.key] : undefined;
      if (written === undefined || written === null) continue;
      const outcome = outcomeOf(check, written, full);
      if (outcome === undefined) continue;
      const seen = outcome.outcome === 'threw' ? unmeasured(outcome.message) : outcome;
      const usual = severityOf({ severity: isFixed ? own : (inherited ?? own), isFixed }, block);
      parts.push({ at: `.${check.key}`, severity: seen.severity ?? usual, seen });
    }
    return parts;
  };

type Attempt =
  | CheckOutcome
  | { readonly outcome: 'threw'; readonly message: string; readonly details?: undefined };

function outcomeOf(check: AnyCheck, written: unknown, context: CheckContext): Attempt | undefined {
  try {
    const params = written ?? check.implied?.(context);
    // The loader already validated the parameters with the check's schema.
    return params === undefined ? undefined : check.evaluate(params as never, context);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { outcome: 'threw', message: `${check.key} could not be evaluated: ${why}` };
  }
}

function resultOf(
  { id }: Listed,
  given: Attempt,
  own: Severity,
  locations: EvaluateLayerOptions['locations'],
): CheckResult {
  const outcome = graverOf(given, own);
  const severity = outcome.outcome === 'threw' ? own : (outcome.severity ?? own);
  const status = statusOf(outcome, severity);
  const { message } = outcome;
  const location = locationOf(id, outcome, locations);
  const result: CheckResult =
    location === undefined
      ? { id, status, message, evidence: [] }
      : { id, status, message, evidence: [], location };
  if (outcome.outcome === 'threw') return result;
  if (result.status === 'skip') result.skip_reason = outcome.reason ?? 'not_measured';
  if (outcome.value !== undefined) result.value = outcome.value;
  if (outcome.limit !== undefined) result.limit = outcome.limit;
  if (outcome.evidence !== undefined) result.evidence = [...outcome.evidence];
  if (outcome.parts !== undefined)
    result.parts = outcome.parts.map((part) => partOf(id, part, locations));
  return result;
}

/** A warning must not hide an unknown part that could have failed. */
const graverOf = (outcome: Attempt, own: Severity): Attempt =>
  outcome.outcome === 'violated' && (outcome.severity ?? own) === 'warn'
    ? (outcome.graver ?? outcome)
    : outcome;

/** The outcome of a nested check, with its path in the spec. */
function partOf(
  parent: string,
  { at, seen }: PartOutcome,
  locations: EvaluateLayerOptions['locations'],
): CheckPart {
  const id = `${parent}${at}`;
  const part: CheckPart = {
    id,
    outcome: seen.outcome === 'unmeasured' ? 'unknown' : seen.outcome,
    message: seen.message,
  };
  const location = locationOf(id, seen, locations);
  if (location !== undefined) part.location = location;
  if (seen.value !== undefined) part.value = seen.value;
  if (seen.limit !== undefined) part.limit = seen.limit;
  if (seen.evidence !== undefined && seen.evidence.length > 0) part.evidence = [...seen.evidence];
  if (seen.parts !== undefined)
    part.parts = seen.parts.map((inner) => partOf(id, inner, locations));
  return part;
}

/** Points at the line of the violated list item. */
function locationOf(
  id: string,
  outcome: Attempt,
  locations: EvaluateLayerOptions['locations'],
): Location | undefined {
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

/** Default severity per layer, for checks that are allowed in all of them. */
const USUAL: Readonly<Record<Layer, Severity>> = {
  correctness: 'fail',
  path: 'warn',
  cost: 'warn',
};

interface Listed {
  readonly id: string;
  readonly check: AnyCheck;
  readonly severity: Severity;
  readonly isFixed: true | undefined;
  /** Position in its layer. */
  readonly place: number;
}

type Checks = readonly (AnyCheck | AnySetting)[];

/** The checks of a layer, indexed. */
interface LayerChecks {
  readonly byKey: ReadonlyMap<string, Listed>;
  /** Checks that may apply to a block that does not name them. */
  readonly implied: readonly Listed[];
}

/**
 * Picks the checks that a block names, in list order. A layer has dozens, and a block names a few.
 */
function checksFor(
  block: Readonly<Record<string, unknown>>,
  { byKey, implied }: LayerChecks,
): Listed[] {
  const found: Listed[] = implied.length === 0 ? [] : [...implied];
  for (const key in block) {
    const listed = byKey.get(key);
    if (listed === undefined || implied.includes(listed)) continue;
    // Insertion sort, because the few items are nearly in order.
    let at = found.length;
    while (at > 0 && found[at - 1]!.place > listed.place) at--;
    found.splice(at, 0, listed);
  }
  return found;
}

/** Cache by list of checks. */
const sorted = new WeakMap<Checks, Readonly<Record<Layer, LayerChecks>>>();

function checksOf(all: Checks, layer: Layer): LayerChecks {
  let lists = sorted.get(all);
  if (lists === undefined) {
    const of = (each: Layer) => byKey(inOrder(all, each));
    lists = { correctness: of('correctness'), path: of('path'), cost: of('cost') };
    sorted.set(all, lists);
  }
  return lists[layer];
}

const byKey = (list: readonly Listed[]): LayerChecks => ({
  byKey: new Map(list.map((listed) => [listed.check.key, listed])),
  implied: list.filter(({ check }) => check.implied !== undefined),
});

const partChecks = new Map<Layer, LayerChecks>();

/** Inside a combinator rubrics are ordinary checks, because the judge has already answered. */
function partChecksOf(layer: Layer): LayerChecks {
  let list = partChecks.get(layer);
  if (list === undefined) {
    list = byKey(inOrder([...CHECKS, ...JUDGED], layer));
    partChecks.set(layer, list);
  }
  return list;
}

function inOrder(all: Checks, layer: Layer): Listed[] {
  return all
    .filter(isCheck)
    .filter((check) => isOfLayer(check, layer))
    .map((check) => ({
      id: `${layer}.${check.key}`,
      check,
      severity: check.severity === 'layer' ? USUAL[layer] : check.severity,
      isFixed: check.isFixed,
    }))
    .sort((a, b) => a.check.order - b.check.order || (a.id < b.id ? -1 : 1))
    .map((listed, place) => ({ ...listed, place }));
}
