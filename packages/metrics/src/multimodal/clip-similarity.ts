import { cosine } from '../cosine.ts';
import { answerOf, clamp01 } from '../input.ts';
import { type Embeddings, type LocalModels, NO_MODELS } from '../local-models.ts';
import { type Found, type MetricInput, measured, notMeasured } from '../metric.ts';
import { mediaPath } from './media.ts';

interface ClipInput {
  readonly kind: 'image' | 'video';
  readonly embed: (models: LocalModels, path: string) => Promise<Embeddings>;
  /** Scores the similarity of each picture to the answer. */
  readonly score: (similarities: readonly number[], more: { readonly model: string }) => Found;
}

/** Compares the answer with pictures of the run by a CLIP model. Reports what is missing. */
export async function compareWithMedia(
  input: MetricInput,
  { kind, embed, score }: ClipInput,
): Promise<Found> {
  const path = mediaPath(input, kind);
  const answer = answerOf(input);
  const { models } = input;
  if (path === undefined)
    return notMeasured(`no ${kind}_path in metadata, and no ${kind} file in the trace`);
  if (answer === undefined) return notMeasured('no answer captured');
  if (models === undefined) return notMeasured(NO_MODELS);
  const [pictures, text] = await Promise.all([embed(models, path), models.clipText(answer)]);
  if (!pictures.ok) return notMeasured(pictures.reason);
  if (!text.ok) return notMeasured(text.reason);
  return score(
    pictures.vectors.map((picture) => cosine(picture, text.vectors[0] ?? [])),
    { model: pictures.model },
  );
}

/** Damaged or empty embeddings give similarities that are not numbers. */
export const areComparable = (similarities: readonly number[]): boolean =>
  similarities.length > 0 && similarities.every(Number.isFinite);

export const incomparable = (more: Readonly<Record<string, unknown>>): Found =>
  notMeasured('the embeddings cannot be compared', more);

/** Clamps a score to 0…1 and keeps the raw value in the detail. */
export const measuredWithin = (raw: number, detail: Readonly<Record<string, unknown>>): Found =>
  measured(clamp01(raw), { ...detail, ...(raw === clamp01(raw) ? {} : { raw: { value: raw } }) });
