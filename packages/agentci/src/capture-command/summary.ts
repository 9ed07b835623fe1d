import type { CaptureResult } from '@agentci/capture';
import { present } from '@agentci/lib/data';
import { formatUsd } from '@agentci/lib/numbers';
import { formatCount, plural } from '@agentci/lib/text';
import { type PriceLookup, type Quantity, toolNames, totals } from '@agentci/trace';

/** The numbers of a capture. Null if a number is unknown. */
export interface CaptureSummary {
  readonly llm_calls: number;
  readonly failed_calls: number;
  readonly tool_calls: Readonly<Record<string, number>>;
  readonly tokens: Amount;
  readonly cost_usd: Amount;
  /** Capture status per capability, with the reason for gaps. */
  readonly captured: Readonly<Record<string, string>>;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

interface Amount {
  readonly value: number;
  /** The true value may be higher. */
  readonly at_least: boolean;
}

const amountOf = (quantity: Quantity): Amount =>
  quantity.exact
    ? { value: quantity.value, at_least: false }
    : { value: quantity.atLeast, at_least: true };

export function summarizeCapture(
  { trace, warnings }: CaptureResult,
  price: PriceLookup | undefined,
): CaptureSummary {
  if (trace === undefined)
    return {
      llm_calls: 0,
      failed_calls: 0,
      tool_calls: {},
      tokens: { value: 0, at_least: true },
      cost_usd: { value: 0, at_least: true },
      captured: {},
      warnings,
    };
  const sums = totals(trace, price === undefined ? {} : { price });
  const tools: Record<string, number> = {};
  for (const name of toolNames(trace)) tools[name] = (tools[name] ?? 0) + 1;
  return {
    llm_calls: trace.steps.filter(({ kind }) => kind === 'llm').length,
    failed_calls: trace.steps.filter((step) => step.kind === 'event' && step.name === 'llm.failed')
      .length,
    tool_calls: tools,
    tokens: amountOf(sums.totalTokens),
    cost_usd: amountOf(sums.costUsd),
    captured: trace.captured,
    warnings: [...trace.warnings, ...warnings].map(({ code, message }) => ({ code, message })),
  };
}

/** The summary for people, one thing per line. */
export function summaryLines(summary: CaptureSummary): string[] {
  const {
    llm_calls: calls,
    failed_calls: failed,
    tool_calls: tools,
    tokens,
    cost_usd: cost,
  } = summary;
  const atLeast = (amount: Amount, text: string): string =>
    amount.at_least ? `at least ${text}` : text;
  const names = Object.entries(tools).map(([name, count]) =>
    count === 1 ? name : `${name} ×${count}`,
  );
  const parts = [
    `${plural(calls, 'model call')}${failed === 0 ? '' : ` (${failed} failed)`}`,
    names.length === 0
      ? 'no tool calls'
      : `${plural(
          Object.values(tools).reduce((a, b) => a + b, 0),
          'tool call',
        )}: ${names.join(', ')}`,
    atLeast(tokens, `${formatCount(tokens.value)} tokens`),
    atLeast(cost, formatUsd(cost.value)),
  ];
  return present([
    Object.keys(summary.captured).length === 0 ? undefined : parts.join(' · '),
    ...summary.warnings.map(({ code, message }) => `${message} (${code})`),
  ]);
}
