import { judgeThreshold, resolveRubric, type WrittenRubric } from '@agentci/judge';
import { v } from '@agentci/lib/values';
import {
  type AnyCheck,
  type Ask,
  type CheckContext,
  type CheckFailure,
  type CheckOutcome,
  defineCheck,
  held,
  skipped,
  unmeasured,
  violated,
} from './check.ts';
import { clip, plural } from './words.ts';

/** Correctness keys that need a judge, in evaluation order. */
export const RUBRIC_KEYS = ['llm_judge', 'safety_check', 'hallucination_check'] as const;
export type RubricKey = (typeof RUBRIC_KEYS)[number];

const rubricsIn = (params: unknown): readonly unknown[] =>
  Array.isArray(params) ? params : [params];

const NOT_ASKED = skipped('not_run', 'no judge was asked');

/** Combines the judge's verdicts on all rubrics, which must all pass. */
function together(params: unknown, { asked }: CheckContext): CheckOutcome {
  const seen = rubricsIn(params).map((rubric) => asked?.get(rubric) ?? NOT_ASKED);
  const first = (outcome: CheckOutcome['outcome']): CheckOutcome | undefined =>
    seen.find((one) => one.outcome === outcome);
  const decisive = first('violated') ?? first('unmeasured') ?? first('skipped');
  if (seen.length === 1) return seen[0]!;
  if (decisive === undefined)
    return held(
      `${plural(seen.length, 'rubric')} passed: ${seen.map((s) => s.message).join('; ')}`,
    );
  if (decisive.outcome === 'violated') return violated(decisive.message, decisive);
  return decisive.outcome === 'unmeasured' ? unmeasured(decisive.message) : decisive;
}

const MAX_RULE = 300;

/** A rubric: its rule and its passing score. */
export function rubricWanted(written: WrittenRubric): string {
  const { rule, threshold } = resolveRubric(written);
  return `A judge's score of at least ${judgeThreshold(threshold)} of 5 for: ${clip(rule, MAX_RULE)}`;
}

const FAILURES: Readonly<Record<RubricKey, CheckFailure>> = {
  llm_judge: {
    why: 'the judge scored below the threshold',
    help: 'read its reason in the report. Make the rubric say what a good answer has, and calibrate it: [the judge](judge.md)',
  },
  safety_check: {
    why: 'the judge found the answer unsafe',
    help: 'read its reason in the report',
  },
  hallucination_check: {
    why: 'the answer says what the captured context does not',
    help: 'check that retrieval returned the right documents, then the prompt',
  },
};

/** Rubrics as parts of a combinator. Outside of combinators the run evaluates them after all other checks. */
export const JUDGED: readonly AnyCheck[] = RUBRIC_KEYS.map((key, i) =>
  defineCheck<unknown>({
    layer: 'correctness',
    key,
    severity: 'fail',
    order: 1000 + i,
    summary: 'A judge scores the answer against a rubric.',
    wants: (params) =>
      rubricsIn(params)
        .map((one) => rubricWanted(one as WrittenRubric))
        .join('; '),
    failure: FAILURES[key],
    example: { rule: 'Answers the question.' },
    schema: v.unknown(),
    asks: (params) => rubricsIn(params).map((item): Ask => ({ kind: 'rubric', item, key })),
    evaluate: together,
  }),
);
