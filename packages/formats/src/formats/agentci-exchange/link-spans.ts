import type { Call, DraftLlm, DraftStep } from '../../build/draft.ts';
import { type Caller, maySame } from './same-model.ts';

/**
 * Clocks of one machine agree, but programs record the start slightly early and the end slightly
 * late.
 */
const SLACK_MS = 50;
/** The end of an exchange is noted when we get to it, which on a busy machine can be after the program has moved on. */
const LATE_MS = 1_000;

export interface Linked {
  readonly llm: readonly DraftLlm[];
  readonly spans: readonly DraftStep[];
  /** Model calls that spans mention and that no exchange shows. */
  readonly unseen: number;
  /** Names of tools that the span of a call has among its calls, and its exchange has not. */
  readonly disputed: readonly string[];
}

/**
 * Puts each exchange below the span of the same call, so that the builder folds them into one step: by the id of the
 * reply, else by time, into the innermost span around it. What the span says of messages and tokens gives way to what went
 * over the wire; calls that only the span has are added. A span of another provider or model is of another call.
 */
export function linkToSpans(
  exchanges: readonly DraftLlm[],
  steps: readonly DraftStep[],
  callers: ReadonlyMap<DraftLlm, Caller> = new Map(),
): Linked {
  const isSpan = (step: DraftStep): step is DraftLlm & { key: string } =>
    step.kind === 'llm' && step.key !== undefined;
  const spans = steps.filter(isSpan);
  if (spans.length === 0) return { llm: exchanges, spans: steps, unseen: 0, disputed: [] };
  const found = new Map<DraftLlm, string>();
  const taken = new Map<string, number>();
  const take = (exchange: DraftLlm, key: string): void => {
    found.set(exchange, key);
    taken.set(key, (taken.get(key) ?? 0) + 1);
  };
  const outer = outerSpans(steps);
  for (const exchange of exchanges) {
    const same = spans.findLast(
      ({ responseId, key }) =>
        responseId !== undefined && responseId === exchange.responseId && !outer.has(key),
    );
    if (same !== undefined) take(exchange, same.key);
  }
  const fits = (span: DraftLlm, exchange: DraftLlm): boolean =>
    isAround(span, exchange) &&
    (span.responseId === undefined || exchange.responseId === undefined) &&
    maySame(span, exchange, callers.get(exchange));
  const open = exchanges.filter((exchange) => !found.has(exchange)).toSorted(byStart);
  const free = spans.filter(({ key }) => !taken.has(key) && !outer.has(key)).toSorted(byStart);
  // Equal numbers that fit pairwise: on a busy machine the order is more reliable than the times.
  if (open.length === free.length && open.every((exchange, i) => fits(free[i]!, exchange)))
    for (const [i, exchange] of open.entries()) take(exchange, free[i]!.key);
  for (const exchange of exchanges) {
    if (found.has(exchange)) continue;
    const around = spans.filter((span) => fits(span, exchange));
    // For sequential calls the span that contains the exchange counts, not a close neighbor.
    // Concurrent calls each take a different span, in start order.
    const [best] = around.toSorted(byFit(exchange, taken));
    if (best !== undefined) take(exchange, best.key);
  }
  const only = new Map(
    [...found].filter(([, key]) => taken.get(key) === 1).map(([exchange, key]) => [key, exchange]),
  );
  const extra = extraCalls(spans, found);
  return {
    llm: exchanges.map((exchange) => {
      const parent = found.get(exchange);
      return parent === undefined
        ? exchange
        : { ...withCalls(exchange, extra.get(exchange) ?? []), parent };
    }),
    disputed: [...extra.values()].flatMap((calls) => calls.map(({ name }) => name)),
    spans: steps.map((step) =>
      isSpan(step) && taken.has(step.key) ? withoutContent(step, only.get(step.key)) : step,
    ),
    unseen: spans.filter(
      ({ key, status }) => !taken.has(key) && !outer.has(key) && status !== 'error',
    ).length,
  };
}

const byFit =
  (exchange: DraftLlm, taken: ReadonlyMap<string, number>) =>
  (a: DraftLlm & { key: string }, b: DraftLlm & { key: string }): number =>
    overhang(a, exchange) - overhang(b, exchange) ||
    (taken.get(a.key) ?? 0) - (taken.get(b.key) ?? 0) ||
    length(a) - length(b) ||
    (a.t0 ?? 0) - (b.t0 ?? 0);

/** Calls that a span's reply asks for and none of its exchanges has, by its last exchange. */
function extraCalls(
  spans: readonly (DraftLlm & { key: string })[],
  found: ReadonlyMap<DraftLlm, string>,
): Map<DraftLlm, Call[]> {
  const extra = new Map<DraftLlm, Call[]>();
  for (const { key, output } of spans) {
    const own = [...found].flatMap(([exchange, at]) => (at === key ? [exchange] : []));
    const last = own.at(-1);
    if (last === undefined) continue;
    const known = own.flatMap((exchange) => exchange.output?.calls ?? []);
    const isKnown = ({ id, name }: Call): boolean => {
      const byId = id === undefined ? -1 : known.findIndex((call) => call.id === id);
      const at = byId >= 0 ? byId : known.findIndex((call) => keyOf(call.name) === keyOf(name));
      if (at >= 0) known.splice(at, 1);
      return at >= 0;
    };
    const missing = (output?.calls ?? []).filter((call) => call.by === undefined && !isKnown(call));
    if (missing.length > 0) extra.set(last, missing);
  }
  return extra;
}

/** Instrumentations write names in their own way. */
const keyOf = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

const withCalls = (exchange: DraftLlm, calls: readonly Call[]): DraftLlm =>
  calls.length === 0
    ? exchange
    : {
        ...exchange,
        output: {
          ...(exchange.output ?? { role: 'assistant', parts: [] }),
          calls: [...(exchange.output?.calls ?? []), ...calls],
        },
      };

/** Spans that have a span of a model call below them. */
function outerSpans(steps: readonly DraftStep[]): ReadonlySet<string> {
  const byKey = new Map(
    steps.flatMap((step) => (step.key === undefined ? [] : [[step.key, step] as const])),
  );
  const outer = new Set<string>();
  for (const step of steps) {
    if (step.kind !== 'llm') continue;
    let above = step.parent === undefined ? undefined : byKey.get(step.parent);
    for (let depth = 0; above !== undefined && depth < MAX_DEPTH; depth++) {
      if (above.kind === 'llm' && above.key !== undefined) outer.add(above.key);
      above = above.parent === undefined ? undefined : byKey.get(above.parent);
    }
  }
  return outer;
}
const MAX_DEPTH = 64;

const byStart = (a: DraftLlm, b: DraftLlm): number => (a.t0 ?? 0) - (b.t0 ?? 0);

/** How much of an exchange lies outside of a span, beyond clock differences. */
function overhang(span: DraftLlm, { t0 = 0, t1 = 0 }: DraftLlm): number {
  const out = Math.max(0, (span.t0 ?? 0) - t0) + Math.max(0, t1 - (span.t1 ?? 0));
  return out > NOISE_MS ? out : 0;
}
const NOISE_MS = 5;

const isAround = (span: DraftLlm, { t0, t1 }: DraftLlm): boolean =>
  span.t0 !== undefined &&
  span.t1 !== undefined &&
  t0 !== undefined &&
  t1 !== undefined &&
  span.t0 - SLACK_MS <= t0 &&
  t0 <= span.t1 + SLACK_MS &&
  t1 <= span.t1 + LATE_MS;

const length = ({ t0 = 0, t1 = 0 }: DraftLlm): number => t1 - t0;

/**
 * The rest of a span whose exchange is known. If it has exactly one, both times come from one
 * clock.
 */
const withoutContent = (
  { input: _, output: __, usage: ___, finish: ____, gap: _____, ...rest }: DraftLlm,
  exchange: DraftLlm | undefined,
): DraftLlm => ({
  ...rest,
  t0: exchange === undefined ? rest.t0 : exchange.t0,
  t1: exchange === undefined ? rest.t1 : exchange.t1,
});
