import { dirname } from 'node:path';
import type { CheckContext, RootedAsk } from '@agentci/checks';
import { costDetails, evaluateLayer } from '@agentci/checks';
import type { Mutable } from '@agentci/lib/data';
import { visibleName } from '@agentci/lib/text';
import type { CheckResult, Layer, LayerResult, QueryResult, TraceWarning } from '@agentci/results';
import { LAYERS, toWarnings } from '@agentci/results';
import { hasMetrics, hasRubrics, hasTopRubrics } from '@agentci/spec';
import type { Trace } from '@agentci/trace';
import { driftWarnings, finalText, totals, withoutMasked } from '@agentci/trace';
import { collectAsks, openRubrics } from './collect-asks.ts';
import { blankResult, errorResult } from './combine-runs.ts';
import { unfinishedReason } from './conversation-end.ts';
import { evaluateConversation } from './evaluate-conversation.ts';
import type { EvaluateInput } from './evaluate-input.ts';
import { statusOf, withChecks } from './join-checks.ts';
import { policyChecks } from './policy-checks.ts';
import { nestedRubrics, type RubricInput, rubricChecks } from './rubric-checks.ts';
import { endedInError, truncationOf } from './truncated-answer.ts';

/** Judges one run: checks the trace against the query. Never runs anything. */
export const evaluateQuery = async (input: EvaluateInput): Promise<QueryResult> => evaluate(input);

/** Like `evaluateQuery`, for a query whose expressions are compiled. */
export async function evaluate(input: EvaluateInput): Promise<QueryResult> {
  const { conversation, turns, state } = input.query;
  return conversation === undefined && turns === undefined && state === undefined
    ? evaluateRun(input)
    : evaluateConversation(input, evaluateRun);
}

/** Judges one question with its answer, or a conversation as a single exchange. */
async function evaluateRun(input: EvaluateInput): Promise<QueryResult> {
  const { query } = input;
  const unfit = unfitReason(input.trace);
  if (unfit !== undefined)
    return {
      ...errorResult(query, { kind: 'trace', message: unfit }),
      warnings: warningsOf(input.trace),
    };

  const seen = withoutMasked(input.trace);
  const trace = seen.status === 'incomplete' ? asPartial(seen) : seen;
  const priced = input.price ? { price: input.price } : {};
  const context: Mutable<Omit<CheckContext, 'siblings'>> = { trace, totals: totals(trace, priced) };
  if (input.baseline) {
    const { version, trace: before } = input.baseline;
    context.baseline = { version, trace: before, totals: totals(before, priced) };
  }
  context.query = query;
  const places = query.locations ? { locations: query.locations } : {};
  const layer = (name: Layer): LayerResult => evaluateLayer(name, query[name], context, places);
  const correctnessNow = (): LayerResult =>
    withFinding(layer('correctness'), truncationOf(input.trace));
  const layers = (correctness: LayerResult): Pick<QueryResult, Layer> => ({
    correctness,
    path: withChecks(layer('path'), policyChecks(query, seen, input.policies)),
    cost: withUsage(layer('cost'), context),
  });

  const asks = collectAsks(query);
  const correctness =
    asks.length > 0 || hasRubrics(query)
      ? await asked(input, context, { asks, correctness: correctnessNow })
      : correctnessNow();
  const result = resultOf(input, layers(correctness));
  return hasMetrics(query) ? measured(input, trace, result) : result;
}

/**
 * The correctness layer after its external requests: first code, then judges if nothing has failed.
 */
async function asked(
  input: EvaluateInput,
  context: Mutable<Omit<CheckContext, 'siblings'>>,
  {
    asks,
    correctness: evaluateNow,
  }: { readonly asks: readonly RootedAsk[]; readonly correctness: () => LayerResult },
): Promise<LayerResult> {
  const { query } = input;
  const { trace } = context;
  if (asks.length > 0) {
    const { answerAsks } = await import('./answer-asks.ts');
    context.asked = await answerAsks(asks, { ...context, siblings: {} }, input.outside ?? {});
  }
  let correctness = evaluateNow();
  const open = openRubrics(asks, correctness);
  if (open.length > 0) {
    const nested = await nestedRubrics(open, rubricInput(input, trace, correctness));
    context.asked = new Map([...(context.asked ?? []), ...nested.answers]);
    const { details } = nested;
    correctness = withDetails(evaluateNow(), details);
  }
  if (!hasTopRubrics(query)) return correctness;
  return withChecks(correctness, await rubricChecks(rubricInput(input, trace, correctness)));
}

const withDetails = (
  layer: LayerResult,
  details: Readonly<Record<string, unknown>>,
): LayerResult => ({
  ...layer,
  details: { ...layer.details, ...details },
});

/** Adds the metrics of the query, and puts the verdicts on their limits into their layers. */
async function measured(
  input: EvaluateInput,
  trace: Trace,
  result: QueryResult,
): Promise<QueryResult> {
  // The metric catalog is large, and most specs use no metrics.
  const { measureQuery } = await import('./metric-checks.ts');
  const { metrics, checks } = await measureQuery(input.query, trace, {
    ...input.metricTools,
    judge: input.judge || undefined,
    price: input.price,
  });
  const full: QueryResult = { ...result, metrics };
  for (const layer of LAYERS)
    full[layer] = withChecks(result[layer], { checks: checks[layer], details: {} });
  return { ...full, status: statusOf(full) };
}

function resultOf(input: EvaluateInput, layers: Pick<QueryResult, Layer>): QueryResult {
  const { query, trace, baseline } = input;
  const result = blankResult(query, layers);
  result.answer = finalText(trace) ?? null;
  const warnings = warningsOf(trace);
  if (warnings.length > 0) result.warnings = warnings;
  if (baseline)
    result.baseline = {
      version: baseline.version,
      file: baseline.file || undefined,
    };
  result.status = statusOf(result);
  return result;
}

/** The warnings of the trace, and totals that contradict its calls. */
function warningsOf(trace: Trace): TraceWarning[] {
  const isTold = trace.warnings.some(({ code }) => code === 'USAGE_DRIFT');
  return toWarnings([
    ...trace.warnings,
    ...(isTold ? [] : driftWarnings(trace)),
    ...changedNames(trace),
  ]);
}

function rubricInput(input: EvaluateInput, trace: Trace, correctness: LayerResult): RubricInput {
  const { query, judge = 'live' } = input;
  return {
    query,
    trace,
    judge,
    useEnsemble:
      input.useEnsemble ?? (typeof judge === 'object' && (judge.ensemble?.enabled ?? false)),
    dir: input.dir ?? dirname(query.location?.file ?? ''),
    deterministicFailed: correctness.checks.some((check) => check.status === 'fail'),
  };
}

/** The reason why a trace cannot be judged at all. */
function unfitReason(trace: Trace): string | undefined {
  if (trace.status === 'error') {
    const { type, message } = trace.error ?? {};
    return `the recording says the run failed${message || type ? `: ${[type, message].filter(Boolean).join(': ')}` : ''}`;
  }
  const unfinished = unfinishedReason(trace);
  if (unfinished !== undefined) return unfinished;
  if (endedInError(trace)) return 'the model ended its reply with an error (finish_reason: error)';
  if (trace.steps.length === 0 && finalText(trace) === undefined)
    return 'the recording has neither steps nor an answer';
  return undefined;
}

/** A run that was cut off. Missing steps may have happened, so nothing counts as fully captured. */
function asPartial(trace: Trace): Trace {
  const captured = { ...trace.captured };
  for (const key of ['toolCalls', 'llmCalls', 'handoffs', 'usage', 'cost'] as const) {
    if (captured[key] === 'full') captured[key] = 'partial';
  }
  return { ...trace, captured };
}

/** Usage is shown even if nothing limits it. */
function withUsage(cost: LayerResult, context: Omit<CheckContext, 'siblings'>): LayerResult {
  if (cost.details.actual !== undefined) return cost;
  const { status, messages, checks } = cost;
  return { status, messages, details: costDetails(context), checks };
}

/** Adds a finding without a check in the spec. */
const withFinding = (layer: LayerResult, finding: CheckResult | undefined): LayerResult =>
  finding === undefined ? layer : withChecks(layer, { checks: [finding], details: {} });

const MAX_NAMED = 5;

/** Most names are plain. A closer look at each would take longer than the checks. */
const PLAIN = /^[!-~]*$/;

/**
 * Reports tools whose names have invisible characters. They are compared as they look, and readers
 * should know.
 */
export function changedNames(trace: Trace): TraceWarning[] {
  const changed = new Set<string>();
  for (const step of trace.steps) {
    if (step.kind !== 'tool') continue;
    for (const name of [step.name, step.rawName])
      if (name !== undefined && !PLAIN.test(name) && visibleName(name) !== name) changed.add(name);
  }
  return [...changed].slice(0, MAX_NAMED).map((name) => ({
    code: 'TOOL_NAME_CHANGED',
    message: `the tool ${shownCodes(name)} shows as "${visibleName(name)}" and is compared as that`,
  }));
}

/** A name with the code points of its invisible characters. */
const shownCodes = (name: string): string =>
  JSON.stringify(name).replace(
    /[^ -~]/gu,
    (char) => `\\u{${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}}`,
  );
