import type { LlmStep, Trace, Usage } from './model.ts';
import { claimedTokens, isBelow } from './totals.ts';

/**
 * Warns if reported totals differ from the sum of the calls, because of hidden calls or double
 * counting. Limits use the larger value.
 */
export function driftWarnings({
  reported,
  steps,
}: Pick<Trace, 'reported' | 'steps'>): Trace['warnings'] {
  const calls = steps.filter((step): step is LlmStep => step.kind === 'llm');
  const contradicted = [reported?.usage, ...calls.map(({ usage }) => usage)].find(
    (usage) => usage !== undefined && contradictsItself(usage),
  );
  const own = contradicted === undefined ? [] : [warn(partsText(contradicted))];
  if (reported?.usage === undefined && reported?.cost === undefined) return own;
  if (calls.length === 0) return own;
  const claimed = claimedTokens(reported.usage);
  const tokens = sum(calls.map(({ usage }) => claimedTokens(usage)));
  const usd = sum(calls.map(({ cost }) => (cost?.source === 'reported' ? cost.usd : undefined)));
  const warnings: Trace['warnings'] = own;
  if (claimed !== undefined && tokens !== undefined && isApart(claimed, tokens))
    warnings.push(warn(`the recording reports ${claimed} tokens; its calls add up to ${tokens}`));
  if (reported.cost !== undefined && usd !== undefined && isApart(reported.cost.usd, usd))
    warnings.push(
      warn(
        `the recording reports $${reported.cost.usd}; its calls add up to $${Number(usd.toFixed(9))}`,
      ),
    );
  return warnings;
}

/** A total of 0 next to positive parts was left out. */
const contradictsItself = ({ total, input = 0, output = 0 }: Usage): boolean =>
  total !== undefined && total !== 0 && isBelow(total, input + output);

const partsText = ({ total, input = 0, output = 0 }: Usage): string =>
  `the recording reports ${total} tokens in all, and ${input} + ${output} of them`;

const warn = (message: string) => ({ code: 'USAGE_DRIFT', message });

/** A sum with an unknown part is unknown. */
const sum = (values: readonly (number | undefined)[]): number | undefined =>
  values.reduce<number | undefined>(
    (all, one) => (all === undefined || one === undefined ? undefined : all + one),
    0,
  );

const TOLERANCE = 0.02;

/** More than rounding apart. */
export const isApart = (a: number, b: number): boolean =>
  Math.abs(a - b) > TOLERANCE * Math.max(a, b);
