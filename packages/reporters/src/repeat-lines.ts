import { formatMs, formatUsd } from '@agentci/lib/numbers';
import { formatCount } from '@agentci/lib/text';
import type { FlipSource, QueryResult, Spread } from '@agentci/results';

const WHY: Record<FlipSource, string> = {
  agent: 'the agent took another way or gave another answer',
  judge: 'the judge changed its mind about the same behaviour',
  infra: 'the infrastructure failed in some runs',
  mixed: 'for more than one reason',
};

/**
 * Describes repeats in plain lines: the rate and its interval, why verdicts flip, the spread of
 * cost and time.
 */
export function repeatLines({ pass_rate, stability }: QueryResult): string[] {
  if (pass_rate === undefined) return [];
  const { passed, decided, min } = pass_rate;
  const interval = stability?.interval;
  const sure = interval
    ? ` (95 % interval ${percent(interval.low)} to ${percent(interval.high)})`
    : '';
  const lines = [
    `${passed} of ${decided} runs passed${sure}; required: ${formatCount(min * 100)} %`,
  ];
  if (stability === undefined) return lines;
  const { class: steadiness, flip, pass_at_k, pass_hat_k } = stability;
  const k = pass_at_k.length;
  if (steadiness === 'flaky') {
    lines.push(
      `flaky${flip ? `: ${WHY[flip.source]}` : ''}; pass@${k} ${pass_at_k[k - 1]!.toFixed(2)}, pass^${k} ${pass_hat_k[k - 1]!.toFixed(2)}`,
    );
  } else if (flip) lines.push(`${steadiness ?? 'undecided'}, but ${WHY[flip.source]}`);
  const spreads = [
    spread('cost', stability.cost_usd, formatUsd),
    spread('latency', stability.latency_ms, formatMs),
  ].filter((line) => line !== undefined);
  if (spreads.length > 0) lines.push(spreads.join('; '));
  return lines;
}

const percent = (share: number): string => `${Math.round(share * 100)} %`;

function spread(
  name: string,
  found: Spread | null,
  format: (value: number) => string,
): string | undefined {
  if (found === null || found.n < 2 || found.min === found.max) return undefined;
  return `${name} ${format(found.min)} to ${format(found.max)}, median ${format(found.median)}`;
}
