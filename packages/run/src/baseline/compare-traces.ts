import { countLoops, sequenceLcs, toolPrecision, toolRecall } from '@agentci/metrics';
import type { DiffType, Edit, MetricDelta, TraceDiff } from '@agentci/results';
import { type CheckStatus, LAYERS, type Layer, type LayerResult } from '@agentci/results';
import type { Trace } from '@agentci/trace';
import {
  answerOfTurn,
  capturedCalls,
  captures,
  finalText,
  handoffs,
  namesOf,
  type PriceLookup,
  quantityOf,
  type Totals,
  totals,
  turnsOf,
} from '@agentci/trace';
import { align } from './align.ts';
import { argumentChanges } from './argument-changes.ts';
import { isChanged, metricDelta } from './metric-delta.ts';
import { regressionsOf } from './regressions.ts';
import { textDiff } from './text-diff.ts';

/** The part of a query that is needed to compare two traces. */
export interface DiffQuery {
  readonly correctness?: Readonly<Record<string, unknown>>;
  readonly path?: Readonly<Record<string, unknown>>;
  readonly cost?: Readonly<Record<string, unknown>>;
}

/** The verdict on a trace, with its layers. */
export type Judged = Readonly<Record<Layer, LayerResult>> & { readonly status: CheckStatus };

export interface DiffInput {
  readonly before: Trace;
  readonly after: Trace;
  readonly query?: DiffQuery;
  /** The verdicts on both sides; without them `diffTraces` evaluates the query's deterministic checks. */
  readonly judged?: { readonly before: Judged; readonly after: Judged };
  /** An increase of cost, tokens, latency or tool calls above this percentage is a regression. */
  readonly maxRegressionPercent?: number;
  readonly price?: PriceLookup;
}

const LAYER_OF: Record<DiffType, Layer> = {
  output_changed: 'correctness',
  tools_changed: 'path',
  sequence_changed: 'path',
  args_changed: 'path',
  routing_changed: 'path',
  cost_changed: 'cost',
  steps_changed: 'cost',
  latency_changed: 'cost',
};

/**
 * Compares two traces of one query: the answer and its verdict, the path, and the cost. Evaluates
 * nothing.
 */
export function compareTraces(input: DiffInput): TraceDiff {
  const sides = { before: sideOf(input.before, input), after: sideOf(input.after, input) };
  const { judged } = input;
  const verdict = verdictDiff(judged);
  const correctness = correctnessDiff(input, judged);
  const path = pathDiff(sides, input);
  const cost = costDiff(sides);
  const types = diffTypes({ sides, correctness, path, cost });
  const changed = new Set<Layer>(types.map((type) => LAYER_OF[type]));
  for (const layer of LAYERS)
    if (verdict.layers[layer].before !== verdict.layers[layer].after) changed.add(layer);
  const failed = (layer: Layer): string[] =>
    (judged?.after[layer].checks ?? [])
      .filter(({ status }) => status === 'fail')
      .map(({ id }) => id);
  const failedChecks = {
    correctness: failed('correctness'),
    path: failed('path'),
    cost: failed('cost'),
  };
  const regressions = regressionsOf(
    { verdict, path, cost },
    failedChecks,
    input.maxRegressionPercent,
  );
  return {
    diff_types: types,
    layers: LAYERS.filter((layer) => changed.has(layer)),
    verdict,
    correctness,
    path,
    cost,
    regressions,
    has_regression: regressions.length > 0,
  };
}

interface Side {
  readonly trace: Trace;
  readonly totals: Totals;
  /** Undefined if the calls were not captured completely. */
  readonly names: readonly string[] | undefined;
}

interface Sides {
  readonly before: Side;
  readonly after: Side;
}

function sideOf(trace: Trace, { price }: DiffInput): Side {
  const calls = capturedCalls(trace);
  return {
    trace,
    totals: totals(trace, price ? { price } : {}),
    names: calls === undefined || calls.isPartial ? undefined : namesOf(calls.calls),
  };
}

function verdictDiff(judged: DiffInput['judged']): TraceDiff['verdict'] {
  const of = (layer: Layer) => ({
    before: judged?.before[layer].status ?? null,
    after: judged?.after[layer].status ?? null,
  });
  return {
    before: judged?.before.status ?? null,
    after: judged?.after.status ?? null,
    layers: { correctness: of('correctness'), path: of('path'), cost: of('cost') },
  };
}

function correctnessDiff(input: DiffInput, judged: DiffInput['judged']): TraceDiff['correctness'] {
  const before = judged?.before.correctness;
  const after = judged?.after.correctness;
  const told = new Map<string, TraceDiff['correctness']['checks'][number]>();
  for (const [side, layer] of [
    ['before', before],
    ['after', after],
  ] as const) {
    for (const [i, check] of (layer?.checks ?? []).entries()) {
      const key = `${check.id}#${i}`;
      const entry = told.get(key) ?? { id: check.id, before: null, after: null, message: '' };
      told.set(key, { ...entry, [side]: check.status, message: check.message });
    }
  }
  const answers = [answersOf(input.before), answersOf(input.after)] as const;
  const changed =
    answers[0] !== answers[1] || captures(input.before, 'final') !== captures(input.after, 'final');
  const { edits, shortened } = changed ? textDiff(...answers) : { edits: [], shortened: false };
  return {
    before: before?.status ?? null,
    after: after?.status ?? null,
    changed: before?.status !== after?.status,
    checks: [...told.values()].filter((check) => check.before !== check.after),
    answer: { changed, edits, shortened: shortened ? (true as const) : undefined },
  };
}

/** The answer of the agent, or all its answers in a conversation. */
function answersOf(trace: Trace): string {
  const turns = turnsOf(trace);
  if (turns.length < 2) return finalText(trace) ?? '';
  return turns.map((turn) => `turn ${turn.turn}: ${answerOfTurn(turn) ?? ''}`).join('\n');
}

/** The same call in another turn is a different call. */
const callsByTurn = (trace: Trace): string[] =>
  capturedCalls(trace)!.calls.map(({ name, userTurn }) =>
    userTurn === undefined ? name : `${name} (turn ${userTurn})`,
  );

function pathDiff({ before, after }: Sides, { query }: DiffInput): TraceDiff['path'] {
  const expected = expectedTools(query);
  const against = (
    measure: (expected: readonly string[], used: readonly string[]) => number,
  ): MetricDelta => {
    const value = ({ names }: Side) => (expected && names ? measure(expected, names) : null);
    return metricDelta(value(before), value(after));
  };
  const both = before.names && after.names ? { a: before.names, b: after.names } : undefined;
  const areTalks = turnsOf(before.trace).length > 1 && turnsOf(after.trace).length > 1;
  let edits: ReturnType<typeof align> = [];
  if (both)
    edits = areTalks
      ? align(callsByTurn(before.trace), callsByTurn(after.trace))
      : align(both.a, both.b);
  const routed = captures(before.trace, 'handoffs') && captures(after.trace, 'handoffs');
  return {
    tool_calls: quantityDelta(before, after, 'toolCalls'),
    tool_precision: against(toolPrecision),
    tool_recall: against(toolRecall),
    sequence_lcs: against(sequenceLcs),
    loops: metricDelta(
      before.names ? countLoops(before.names) : null,
      after.names ? countLoops(after.names) : null,
    ),
    handoffs: quantityDelta(before, after, 'handoffs'),
    similarity: both ? sequenceLcs(both.a, both.b) : null,
    tools: edits.map(plain),
    arguments: both
      ? argumentChanges(
          edits,
          capturedCalls(before.trace)!.calls,
          capturedCalls(after.trace)!.calls,
        )
      : [],
    routes: routed ? align(routes(before.trace), routes(after.trace)).map(plain) : [],
  };
}

const plain = ({ op, text }: Edit): Edit => ({ op, text });

const routes = (trace: Trace): string[] => handoffs(trace).map(({ from, to }) => `${from} → ${to}`);

/** The tools a spec expects. `max_tool_calls: 0` expects none. */
function expectedTools(query: DiffQuery | undefined): readonly string[] | undefined {
  const path = query?.path;
  if (path === undefined) return undefined;
  const written = path.expected_tool_sequence ?? path.expected_tools;
  if (Array.isArray(written))
    return written.filter((name): name is string => typeof name === 'string');
  return path.max_tool_calls === 0 ? [] : undefined;
}

type TotalName = 'costUsd' | 'totalTokens' | 'llmCalls' | 'latencyMs' | 'toolCalls' | 'handoffs';

function quantityDelta(before: Side, after: Side, name: TotalName): MetricDelta {
  const value = ({ trace, totals }: Side): number | null => {
    const quantity = quantityOf(trace, totals[name]);
    return quantity.exact ? quantity.value : null;
  };
  return metricDelta(value(before), value(after));
}

function costDiff({ before, after }: Sides): TraceDiff['cost'] {
  return {
    cost_usd: quantityDelta(before, after, 'costUsd'),
    total_tokens: quantityDelta(before, after, 'totalTokens'),
    llm_calls: quantityDelta(before, after, 'llmCalls'),
    latency_ms: quantityDelta(before, after, 'latencyMs'),
  };
}

function diffTypes(input: {
  sides: Sides;
  correctness: TraceDiff['correctness'];
  path: TraceDiff['path'];
  cost: TraceDiff['cost'];
}): DiffType[] {
  const { sides, correctness, path, cost } = input;
  const { names: a } = sides.before;
  const { names: b } = sides.after;
  const moved = path.tools.some(({ op }) => op !== 'keep');
  const sameTools =
    a !== undefined && b !== undefined && [...a].sort().join('\0') === [...b].sort().join('\0');
  const found: Record<DiffType, boolean> = {
    output_changed: correctness.answer.changed,
    tools_changed: moved && !sameTools,
    sequence_changed: moved && sameTools,
    args_changed: path.arguments.length > 0,
    routing_changed: path.routes.some(({ op }) => op !== 'keep'),
    cost_changed: isChanged(cost.cost_usd) || isChanged(cost.total_tokens),
    steps_changed: isChanged(cost.llm_calls),
    latency_changed: isChanged(cost.latency_ms),
  };
  return (Object.keys(found) as DiffType[]).filter((type) => found[type]);
}
