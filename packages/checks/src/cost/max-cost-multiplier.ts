import { v } from '@agentci/lib/values';
import { quantityOf } from '@agentci/trace';
import { atMost } from '../bounds.ts';
import { defineCheck, skipped } from '../check.ts';
import { number } from '../words.ts';

export const check = defineCheck({
  layer: 'cost',
  key: 'max_cost_multiplier',
  severity: 'warn',
  order: 20,
  summary: 'The run may cost at most this many times what the baseline cost.',
  wants: (max) => `At most ${number(max)} × the cost of the baseline`,
  failure: {
    why: 'the run cost more than the allowed multiple of its baseline',
    help: 'look at what changed with `agentci diff`',
  },
  example: 2,
  schema: v.number().positive(),
  evaluate: (max, { trace, totals, baseline }) => {
    const limit = max;
    if (baseline === undefined)
      return skipped(
        'no_baseline',
        `cost multiplier: no baseline was found; limit ${number(max)}`,
        { limit },
      );
    const before = quantityOf(baseline.trace, baseline.totals.costUsd);
    if (!before.exact || before.value <= 0) {
      const why = before.exact ? 'is 0' : `is not known (${before.why})`;
      return skipped(
        'no_baseline',
        `cost multiplier: the cost of baseline ${baseline.version} ${why}; limit ${number(max)}`,
        { limit },
      );
    }
    const now = quantityOf(trace, totals.costUsd);
    const quantity = now.exact
      ? ({ exact: true, value: now.value / before.value } as const)
      : ({ exact: false, atLeast: now.atLeast / before.value, why: now.why } as const);
    const note = `${now.exact ? '' : 'at least '}${number(now.exact ? now.value : now.atLeast)} USD against ${number(before.value)} USD in baseline ${baseline.version}`;
    return atMost({ quantity, max, what: 'cost multiplier', note });
  },
});
