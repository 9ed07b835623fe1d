import { z } from 'zod';
import { cosine } from '../cosine.ts';
import { answerOf, clamp01, metadataOf, ownField } from '../input.ts';
import { NO_MODELS } from '../local-models.ts';
import { defineMetric, type MetricInput, measured, notMeasured } from '../metric.ts';
import { vectorOf } from './given-vectors.ts';
import { mediaPath } from './media.ts';

export const metric = defineMetric({
  name: 'cross_modal_grounding',
  group: 'multimodal',
  layer: 'correctness',
  needs: ['an image (metadata.image_path or the trace) and a CLIP model, or embeddings in metadata'],
  summary: 'how well the answer fits the image it was given',
  params: () =>
    z.strictObject({
      threshold: z.number().positive().max(1).default(0.25).describe('similarity that counts as grounded'),
    }),
  evaluate: (input) => {
    const { threshold } = input.params;
    const image = vectorOf(ownField(metadataOf(input), 'image_embedding'));
    const text = vectorOf(ownField(metadataOf(input), 'text_embedding'));
    if (image && text) return scored(cosine(image, text), threshold, 'given embeddings');
    return fromModel(input, threshold);
  },
});

async function fromModel(input: MetricInput, threshold: number) {
  const path = mediaPath(input, 'image');
  const answer = answerOf(input);
  if (path === undefined) return notMeasured('no image_path in metadata, and no image file in the trace');
  if (answer === undefined) return notMeasured('no answer captured');
  if (input.models === undefined) return notMeasured(NO_MODELS);
  const [image, text] = await Promise.all([input.models.clipImages([path]), input.models.clipText(answer)]);
  if (!image.ok) return notMeasured(image.reason);
  if (!text.ok) return notMeasured(text.reason);
  return scored(cosine(image.vectors[0] ?? [], text.vectors[0] ?? []), threshold, image.model);
}

function scored(similarity: number, threshold: number, model: string) {
  if (!Number.isFinite(similarity)) return notMeasured('the embeddings cannot be compared', { model });
  const isGrounded = similarity >= threshold;
  const raw = isGrounded ? 1 : similarity / threshold;
  return measured(clamp01(raw), {
    similarity,
    threshold,
    is_grounded: isGrounded,
    model,
    ...(raw === clamp01(raw) ? {} : { raw: { value: raw } }),
  });
}
