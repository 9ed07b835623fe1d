import { v } from '@agentci/lib/values';
import { MATCH_MODES, type MatchMode, matchTools } from '@agentci/metrics';
import { capturedCalls, namesOf } from '@agentci/trace';
import { baselineNames, NOT_CAPTURED } from '../calls.ts';
import { type CheckContext, defineCheck, held, skipped, unmeasured, violated } from '../check.ts';

export const check = defineCheck<MatchMode>({
  layer: 'path',
  key: 'match_mode',
  severity: 'warn',
  order: 50,
  summary:
    'How the tools called must compare with the baseline, else with `expected_tools`: strict, unordered, subset or superset.',
  wants: (mode) => `The tool calls of the baseline (${mode})`,
  failure: {
    why: 'the tools differ from the baseline or from `expected_tools`',
    help: 'the message prints the rule of the mode. If the new way is better, save a new baseline',
  },
  example: 'unordered',
  schema: v.enum(MATCH_MODES),
  implied: ({ baseline }) => (baseline === undefined ? undefined : 'subset'),
  evaluate: (mode, context) => {
    const reference = referenceOf(context);
    if ('missing' in reference)
      return skipped('no_baseline', `match mode ${mode}: ${reference.missing}`, { limit: mode });
    const recorded = capturedCalls(context.trace);
    if (recorded === undefined)
      return unmeasured(`match mode ${mode}: not known, ${NOT_CAPTURED}`, { limit: mode });
    const { matched, reason } = matchTools({
      used: namesOf(recorded.calls, reference.names),
      reference: reference.names,
      mode,
    });
    if (recorded.isPartial && !isFinal(mode, matched)) {
      return unmeasured(`match mode ${mode}: not known, not all tool calls were captured`, {
        limit: mode,
      });
    }
    const outcome = matched ? held : violated;
    return outcome(`tools ${matched ? 'match' : 'do not match'} ${reference.source} (${reason})`, {
      value: matched,
      limit: mode,
      details: { match_mode: { mode, matched, reason } },
    });
  },
});

type Reference =
  | { readonly names: readonly string[]; readonly source: string }
  | { readonly missing: string };

function referenceOf({ baseline, siblings }: CheckContext): Reference {
  const names = baselineNames(baseline);
  if (Array.isArray(names)) return { names, source: `baseline ${baseline?.version}` };
  const expected = siblings.expected_tools;
  if (Array.isArray(expected)) return { names: expected as string[], source: 'expected_tools' };
  return {
    missing: `${(names as { missing: string }).missing}, and there is no expected_tools to compare with`,
  };
}

/** Whether missing calls, which can only add tools, could no longer change the verdict. */
function isFinal(mode: MatchMode, matched: boolean): boolean {
  if (mode === 'subset') return matched;
  return mode === 'superset' && !matched;
}
