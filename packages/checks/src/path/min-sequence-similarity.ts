import { v } from '@agentci/lib/values';
import { sequenceEdit, sequenceLcs } from '@agentci/metrics';
import { capturedCalls, namesOf } from '@agentci/trace';
import { atLeast } from '../bounds.ts';
import { baselineNames, NOT_CAPTURED } from '../calls.ts';
import { defineCheck, skipped, unmeasured } from '../check.ts';
import { zeroBoundIssues } from '../issues.ts';
import { number, rounded } from '../words.ts';

export const check = defineCheck({
  layer: 'path',
  key: 'min_sequence_similarity',
  severity: 'warn',
  order: 90,
  summary: 'The sequence of tool calls must be at least this similar to the baseline (0 to 1).',
  wants: (min) => `A similarity of the tool sequence of at least ${number(min)}`,
  failure: {
    why: 'the order of calls is too far from the reference',
    help: 'compare with `agentci diff`',
  },
  example: 0.7,
  schema: v.number().min(0).max(1),
  inspect: (min) => zeroBoundIssues('min_sequence_similarity', min),
  evaluate: (min, { trace, siblings, baseline }) => {
    const metric = siblings.sequence_metric === 'edit' ? 'edit' : 'lcs';
    const what = `sequence similarity (${metric})`;
    const reference = baselineNames(baseline);
    if (!Array.isArray(reference)) {
      return skipped('no_baseline', `${what}: ${reference.missing}; minimum ${number(min)}`, {
        limit: min,
      });
    }
    const recorded = capturedCalls(trace);
    if (recorded === undefined)
      return unmeasured(`${what}: not known, ${NOT_CAPTURED}; minimum ${number(min)}`, {
        limit: min,
      });
    const used = namesOf(recorded.calls, reference);
    const value = metric === 'edit' ? sequenceEdit(used, reference) : sequenceLcs(used, reference);
    return atLeast({
      value,
      min,
      what,
      note: `${used.length} calls against ${reference.length} in baseline ${baseline?.version}`,
      ...(recorded.isPartial
        ? { partial: 'open' }
        : { rest: { details: { sequence_similarity: rounded(value) } } }),
    });
  },
});
