import type { Cost, LlmStep, Trace, Usage } from './model.ts';
import { llmCalls } from './selectors.ts';

/**
 * A number from a trace. A sum with an unknown part is not exact: `atLeast` is its known part,
 * which can prove that a limit is exceeded but never that it is kept.
 */
export type Quantity =
  | {
      readonly exact: true;
      readonly value: number;
      /**
       * The total claimed by the source, if its calls add up to more. Reports show the claim;
       * limits use the sum.
       */
      readonly claimed?: number;
    }
  | { readonly exact: false; readonly atLeast: number; readonly why: string };

/**
 * Resource use of a run. The larger of the reported total and the sum of the calls counts. If
 * neither is given it is unknown, not 0.
 */
export interface Totals {
  readonly costUsd: Quantity;
  /** The dated price table, if the cost was computed from tokens. */
  readonly costSource?: Pick<Cost, 'source' | 'prices'> | undefined;
  readonly totalTokens: Quantity;
  readonly inputTokens: Quantity;
  readonly outputTokens: Quantity;
  readonly llmCalls: Quantity;
  readonly toolCalls: Quantity;
  readonly handoffs: Quantity;
  readonly latencyMs: Quantity;
}

/** Dollars for one model call, or undefined if the model's price is unknown. */
export type PriceLookup = (call: {
  model: string;
  provider?: string;
  usage: Usage;
  at?: number;
}) => { usd: number; prices: string } | undefined;

/** The resource use of a run, from reported totals and from its steps. */
export function totals(trace: Trace, options: { price?: PriceLookup } = {}): Totals {
  const calls = llmCalls(trace);
  const { costUsd, costSource } = costOf(trace, calls, options.price);
  return {
    costUsd,
    costSource,
    totalTokens: tokens({ trace, calls, what: 'tokens', read: totalOf }),
    inputTokens: tokens({
      trace,
      calls,
      what: 'input tokens',
      read: (usage) => known(usage.input),
    }),
    outputTokens: tokens({
      trace,
      calls,
      what: 'output tokens',
      read: (usage) => known(usage.output),
    }),
    llmCalls: llmCallCount(trace, calls.length),
    toolCalls: count(trace, 'tool', 'toolCalls'),
    handoffs: count(trace, 'handoff', 'handoffs'),
    latencyMs: latency(trace),
  };
}

const exact = (value: number): Quantity => ({ exact: true, value });
/** Compares a claim with the sum of the calls. Differences within rounding keep the claim. */
const larger = (claimed: number, summed: number): Quantity =>
  isBelow(claimed, summed) ? { exact: true, value: summed, claimed } : exact(claimed);
const ROUNDING = 0.02;
/** Whether a claim is smaller than its parts by more than rounding. */
export const isBelow = (claimed: number, summed: number): boolean =>
  summed > claimed * (1 + ROUNDING);
const atLeast = (value: number, why: string): Quantity => ({ exact: false, atLeast: value, why });

/** A part of a sum: its known amount, and whether that is all. */
interface Amount {
  readonly value: number;
  readonly complete: boolean;
}
const NOTHING_KNOWN: Amount = { value: 0, complete: false };
const known = (value: number | undefined): Amount =>
  value === undefined ? NOTHING_KNOWN : { value, complete: true };

function totalOf(usage: Usage): Amount {
  const { input, output, total } = usage;
  const parts = (input ?? 0) + (output ?? 0);
  // A total below its own parts is wrong or incomplete, so the larger counts.
  if (total !== undefined) return known(isBelow(total, parts) ? parts : total);
  return { value: parts, complete: input !== undefined && output !== undefined };
}

/** The total tokens of a usage. Undefined if a part is unknown. */
export function claimedTokens(usage: Usage | undefined): number | undefined {
  const amount = usage === undefined ? NOTHING_KNOWN : totalOf(usage);
  return amount.complete ? amount.value : undefined;
}

function tokens(options: {
  trace: Trace;
  calls: readonly LlmStep[];
  what: string;
  read: (usage: Usage) => Amount;
}): Quantity {
  const { trace, calls, what, read } = options;
  const reported = trace.reported?.usage === undefined ? NOTHING_KNOWN : read(trace.reported.usage);
  if (reported.complete && calls.length === 0) return exact(reported.value);
  const sum = sumOf(trace, calls, what, (call) =>
    call.usage === undefined ? NOTHING_KNOWN : read(call.usage),
  );
  if (reported.complete) return larger(reported.value, sum.exact ? sum.value : sum.atLeast);
  return sum.exact ? sum : atLeast(Math.max(sum.atLeast, reported.value), sum.why);
}

function sumOf(
  trace: Trace,
  calls: readonly LlmStep[],
  what: string,
  read: (call: LlmStep) => Amount,
): Quantity {
  let value = 0;
  let unknown = 0;
  for (const call of calls) {
    const amount = read(call);
    value += amount.value;
    if (!amount.complete) unknown++;
  }
  if (trace.captured.llmCalls === 'none' && calls.length === 0)
    return atLeast(0, `the recording gives no ${what} and no LLM calls`);
  if (unknown > 0)
    return atLeast(value, `${unknown} of ${calls.length} LLM calls were recorded without ${what}`);
  if (trace.captured.llmCalls !== 'full') return atLeast(value, 'not every LLM call was recorded');
  return exact(value);
}

function costOf(
  trace: Trace,
  calls: readonly LlmStep[],
  price: PriceLookup | undefined,
): Pick<Totals, 'costUsd' | 'costSource'> {
  const reported = trace.reported?.cost;
  if (reported !== undefined) {
    let summed = 0;
    // Computed prices are not compared with a reported bill.
    for (const { cost } of calls) if (cost?.source === 'reported') summed += cost.usd;
    return { costUsd: larger(reported.usd, roundUsd(summed)), costSource: sourceOf(reported) };
  }
  const sources: Cost[] = [];
  const costOfCall = (call: LlmStep): Amount => {
    const cost =
      call.cost ?? computed({ trace, price, usage: call.usage, model: call.model, call });
    if (cost === undefined) return NOTHING_KNOWN;
    sources.push(cost);
    return known(cost.usd);
  };
  const sum = sumOf(trace, calls, 'a cost, and no price is known for them', costOfCall);
  if (!sum.exact && calls.length === 0) {
    const { model } = trace.meta;
    const whole = computed({
      trace,
      price,
      usage: trace.reported?.usage,
      model: typeof model === 'string' ? model : undefined,
    });
    if (whole !== undefined)
      return { costUsd: exact(roundUsd(whole.usd)), costSource: sourceOf(whole) };
    return {
      costUsd: atLeast(
        0,
        'the recording gives no cost, and no LLM calls it could be computed from',
      ),
    };
  }
  const costUsd = sum.exact ? exact(roundUsd(sum.value)) : atLeast(roundUsd(sum.atLeast), sum.why);
  return sources.length === 0 ? { costUsd } : { costUsd, costSource: mergeSources(sources) };
}

/** Dollar sums carry rounding errors (0.1 + 0.2), and a limit of 0.3 must still hold. */
const roundUsd = (usd: number): number =>
  Number.isSafeInteger(Math.round(usd)) ? Math.round(usd * 1e12) / 1e12 : usd;

function computed(options: {
  trace: Trace;
  price: PriceLookup | undefined;
  usage: Usage | undefined;
  model: string | undefined;
  call?: LlmStep;
}): Cost | undefined {
  const { trace, price, usage, model, call } = options;
  if (price === undefined || usage === undefined || model === undefined) return undefined;
  // A price needs both directions, because output tokens cost several times as much as input
  // tokens.
  if (usage.input === undefined || usage.output === undefined) return undefined;
  const at = call?.t0 ?? trace.startedAt;
  const found = price({
    model,
    usage,
    provider: call?.provider === undefined ? undefined : call.provider,
    at,
  });
  return found === undefined
    ? undefined
    : { usd: found.usd, source: 'computed', prices: found.prices };
}

const sourceOf = ({ source, prices }: Cost): Pick<Cost, 'source' | 'prices'> =>
  prices === undefined ? { source } : { source, prices };

/** One computed part makes the total computed, so that readers see that a price table was used. */
function mergeSources(costs: readonly Cost[]): Pick<Cost, 'source' | 'prices'> {
  const source = costs.some((cost) => cost.source === 'computed') ? 'computed' : 'reported';
  const tables = [
    ...new Set(costs.flatMap((cost) => (cost.prices === undefined ? [] : [cost.prices]))),
  ];
  return tables.length === 0 ? { source } : { source, prices: tables.join(', ') };
}

function llmCallCount(trace: Trace, counted: number): Quantity {
  const reported = trace.reported?.llmCalls;
  if (reported !== undefined)
    return counted > reported
      ? { exact: true, value: counted, claimed: reported }
      : exact(reported);
  if (trace.captured.llmCalls === 'full') return exact(counted);
  const why =
    trace.captured.llmCalls === 'none'
      ? 'LLM calls were not captured'
      : 'not every LLM call was captured';
  return atLeast(counted, why);
}

function count(
  trace: Trace,
  kind: 'tool' | 'handoff',
  capability: 'toolCalls' | 'handoffs',
): Quantity {
  let counted = 0;
  for (const step of trace.steps) if (step.kind === kind) counted++;
  const level = trace.captured[capability];
  if (level === 'full') return exact(counted);
  const words = kind === 'tool' ? 'tool calls' : 'handoffs';
  return atLeast(
    counted,
    level === 'none' ? `${words} were not captured` : `not all ${words} were captured`,
  );
}

function latency(trace: Trace): Quantity {
  const { reported, startedAt, endedAt, captured } = trace;
  if (reported?.durationMs !== undefined) return exact(reported.durationMs);
  if (startedAt !== undefined && endedAt !== undefined) {
    return endedAt >= startedAt
      ? exact(endedAt - startedAt)
      : atLeast(0, 'the run ends before it starts');
  }
  let first = Number.POSITIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const { t0, t1 } of trace.steps) {
    if (t0 !== undefined && t0 < first) first = t0;
    if (t1 !== undefined && t1 > last) last = t1;
    else if (t0 !== undefined && t0 > last) last = t0;
  }
  if (captured.timing === 'none' || last < first)
    return atLeast(
      0,
      trace.meta.replayed === undefined
        ? 'the recording gives no times'
        : 'its calls were answered from a cassette, so its time says nothing',
    );
  return captured.timing === 'full'
    ? exact(last - first)
    : atLeast(last - first, 'not every step was timed');
}
