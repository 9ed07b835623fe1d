import { asksIn, emptyListIssue, RUBRIC_KEYS, type RubricKey } from '@agentci/checks';
import { isTemplate, needsOf, RUBRICS, type WrittenRubric } from '@agentci/judge';
import type { Problem } from '@agentci/lib/problems';
import { didYouMean } from '@agentci/lib/text';
import { type Infer, v } from '@agentci/lib/values';
import type { CheckResult } from '@agentci/results';
import { readContextFile, type SpecFolder } from './files.ts';
import type { Query } from './suite.ts';

const text = v.string().regex(/\S/);

const example = v.strictObject({
  input: v.string().optional(),
  output: v.string(),
  score: v.number(),
});

const shape = {
  rule: text.optional().describe('The criterion for the answer, in plain words'),
  template: text.optional().describe('Name of a built-in rubric, instead of a rule or next to it'),
  scale: v
    .array(text)
    .min(1)
    .optional()
    .describe('What each score means, for example "1: off topic"'),
  threshold: v
    .number()
    .min(0)
    .max(1)
    .optional()
    .describe('Lowest passing score between 0 and 1 (default: 0.5)'),
  few_shot_examples: v
    .array(example)
    .min(1)
    .optional()
    .describe('Scored examples that calibrate the judge'),
  context_file: text
    .optional()
    .describe('File with context for the judge, seen from the folder of the spec'),
};

/**
 * A rubric that may be partial, in `defaults` or over them: the rule can come from the other side.
 */
export const partialRubricSchema = v.strictObject(shape);

/** A rubric for scoring an answer. */
export const rubricSchema = v
  .strictObject(shape)
  .refine((rubric) => rubric.rule !== undefined || rubric.template !== undefined, {
    message: 'a rubric needs "rule" or "template"',
    code: 'SPEC_REQUIRED',
  })
  .keywords({ anyOf: [{ required: ['rule'] }, { required: ['template'] }] });

export type Rubric = Infer<typeof rubricSchema>;

/**
 * Further problems of a rubric: an unknown template, a missing context file, a threshold without
 * effect.
 */
export function inspectRubric(rubric: Rubric, folder: SpecFolder): readonly Problem[] {
  const issues: Problem[] = [];
  const { template, context_file, threshold } = rubric;
  if (template !== undefined && !isTemplate(template)) {
    const names = Object.keys(RUBRICS);
    const near = didYouMean(template, names);
    const hint = near === undefined ? `there are ${names.join(', ')}` : `did you mean "${near}"?`;
    const message = `there is no rubric template "${template}"`;
    issues.push({ severity: 'error', code: 'SPEC_VALUE', message, hint, path: ['template'] });
  }
  if (template !== undefined && rubric.rule === undefined && needsOf(template).includes('rule')) {
    const message = `the template "${template}" needs "rule" next to it: the role or the instructions`;
    issues.push({ severity: 'error', code: 'SPEC_REQUIRED', message, path: ['template'] });
  }
  if (context_file !== undefined) {
    const file = readContextFile(context_file, folder);
    if (!file.ok) {
      const { code, message, hint } = file;
      issues.push({ severity: 'error', code, message, hint, path: ['context_file'] });
    }
  }
  if (threshold !== undefined) issues.push(...thresholdIssues(threshold));
  return issues;
}

/** A threshold becomes a score of 1 to 5 (`floor(5t + 0.5)`), so its extremes are misleading. */
function thresholdIssues(threshold: number): readonly Problem[] {
  const path = ['threshold'];
  if (threshold < 0.3) {
    const message = `a threshold of ${threshold} means 1 of 5, the lowest score there is: this cannot fail`;
    return [
      { severity: 'warning', code: 'SPEC_CANNOT_FAIL', message, hint: 'use 0.3 or more', path },
    ];
  }
  if (threshold >= 0.9) {
    const message = `a threshold of ${threshold} means 5 of 5: only a perfect score passes`;
    return [
      {
        severity: 'warning',
        code: 'SPEC_TOP_SCORE_ONLY',
        message,
        hint: 'below 0.9 a score of 4 passes',
        path,
      },
    ];
  }
  return [];
}

/** The rubrics of `llm_judge`, each with its index. */
export function inspectRubrics(rubrics: readonly Rubric[], folder: SpecFolder): readonly Problem[] {
  if (rubrics.length === 0) return [emptyListIssue('llm_judge')];
  return rubrics.flatMap((rubric, i) =>
    inspectRubric(rubric, folder).map((issue) => ({ ...issue, path: [i, ...(issue.path ?? [])] })),
  );
}

/** One rubric of a query with its place. */
export interface RubricItem {
  readonly key: RubricKey;
  readonly written: WrittenRubric;
  readonly place: Pick<CheckResult, 'id' | 'location'>;
}

/** Whether a rubric is on the same level as the other checks, not in a combinator. */
export const hasTopRubrics = ({ correctness }: Pick<Query, 'correctness'>): boolean =>
  RUBRIC_KEYS.some((key) => correctness?.[key] !== undefined && correctness[key] !== null);

/** Whether the query may need a judge. */
export const hasRubrics = (query: Query): boolean =>
  hasTopRubrics(query) ||
  nestedRubrics(query).length > 0 ||
  (query.turns?.some((turn) => hasTopRubrics(turn) || nestedRubrics(turn).length > 0) ?? false);

const nestedRubrics = ({ correctness }: Pick<Query, 'correctness'>) =>
  asksIn('correctness', correctness).filter(({ kind }) => kind === 'rubric');

/** Number of judge verdicts of a query, including those of its turns. */
export const countRubrics = (query: Query): number =>
  [query, ...(query.turns ?? [])].reduce(
    (sum, each) => sum + RUBRIC_KEYS.flatMap((key) => itemsOf(each, key)).length,
    0,
  );

/** The same plus rubrics in combinators, which are not separate verdicts. */
export const countAllRubrics = (query: Query): number =>
  [query, ...(query.turns ?? [])].reduce(
    (sum, each) => sum + nestedRubrics(each).length,
    countRubrics(query),
  );

/** The rubrics of a query under one key. */
export function itemsOf(
  { correctness, locations }: Pick<Query, 'correctness' | 'locations'>,
  key: RubricKey,
): RubricItem[] {
  const written = correctness?.[key] as WrittenRubric | readonly WrittenRubric[] | null | undefined;
  if (written === undefined || written === null) return [];
  const id = `correctness.${key}`;
  const isList = Array.isArray(written);
  return (isList ? (written as readonly WrittenRubric[]) : [written as WrittenRubric]).map(
    (rubric, i) => {
      const location = (isList ? locations?.[`${id}[${i}]`] : undefined) ?? locations?.[id];
      return { key, written: rubric, place: { id, location } };
    },
  );
}
