import type { Judge } from '@agentci/judge';
import { cosine } from '../cosine.ts';
import { clamp01 } from '../input.ts';
import { type LocalModels, NO_MODELS } from '../local-models.ts';
import { measured, notMeasured } from '../metric.ts';
import { byModel, claimsOf, supportOf } from './model-method.ts';

/** F1 from counts. 0 if nothing is right, 1 if both texts are empty. */
export function f1Of({
  tp,
  fp,
  fn,
}: {
  readonly tp: number;
  readonly fp: number;
  readonly fn: number;
}): number {
  return tp + fp + fn === 0 ? 1 : (2 * tp) / (2 * tp + fp + fn);
}

/**
 * Statements of the answer that the reference supports or not, and those of the reference that are
 * missing.
 */
export const statementF1 = (options: {
  readonly judge: Judge | undefined;
  readonly models: LocalModels | undefined;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly query: string | undefined;
  readonly answer: string;
  readonly expected: string;
  readonly similarityWeight: number;
}) =>
  byModel(options.judge, options.detail, async (tasks) => {
    const { query, answer, expected, models, similarityWeight: weight } = options;
    const [said, wanted] = await Promise.all([
      claimsOf(tasks, answer, query),
      claimsOf(tasks, expected, query),
    ]);
    if (said.length + wanted.length === 0)
      return notMeasured('neither the answer nor expected_output claims anything');
    const [right, present] = await Promise.all([
      said.length === 0 ? [] : supportOf(tasks, said, [expected]),
      wanted.length === 0 ? [] : supportOf(tasks, wanted, [answer]),
    ]);
    const tp = right.filter(({ verdict }) => verdict === 1).length;
    const counts = {
      tp,
      fp: said.length - tp,
      fn: present.filter(({ verdict }) => verdict === 0).length,
    };
    const f1 = f1Of(counts);
    const detail = { ...counts, f1, verdicts: { answer: right, expected: present } };
    if (weight === 0) return measured(f1, detail);
    const embedded = await models?.embedTexts([answer, expected]);
    // F1 alone is another formula, used only if chosen.
    if (!embedded?.ok)
      return notMeasured(
        `${embedded?.reason ?? NO_MODELS}; or leave the similarity out with similarity_weight: 0`,
        detail,
      );
    const similarity = clamp01(cosine(embedded.vectors[0] ?? [], embedded.vectors[1] ?? []));
    return measured((1 - weight) * f1 + weight * similarity, {
      ...detail,
      similarity,
      embedding_model: embedded.model,
    });
  });
