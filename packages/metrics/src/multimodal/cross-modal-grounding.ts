import { v } from '@agentci/lib/values';
import { cosine } from '../cosine.ts';
import { metadataOf, ownField } from '../input.ts';
import { defineMetric } from '../metric.ts';
import { metricParams } from '../params.ts';
import {
  areComparable,
  compareWithMedia,
  incomparable,
  measuredWithin,
} from './clip-similarity.ts';
import { vectorOf } from './given-vectors.ts';

export const metric = defineMetric({
  name: 'cross_modal_grounding',
  group: 'multimodal',
  layer: 'correctness',
  needs: [
    'an image (metadata.image_path or the trace) and a CLIP model, or embeddings in metadata',
  ],
  summary: 'how well the answer fits the image it was given',
  params: () =>
    metricParams({
      threshold: v
        .number()
        .positive()
        .max(1)
        .default(0.25)
        .describe('similarity that counts as grounded'),
    }),
  evaluate: (input) => {
    const { threshold } = input.params;
    const image = vectorOf(ownField(metadataOf(input), 'image_embedding'));
    const text = vectorOf(ownField(metadataOf(input), 'text_embedding'));
    if (image && text)
      return scored([cosine(image, text)], { model: 'given embeddings' }, threshold);
    return compareWithMedia(input, {
      kind: 'image',
      embed: (models, path) => models.clipImages([path]),
      score: (similarities, more) => scored(similarities, more, threshold),
    });
  },
});

function scored(
  [similarity = Number.NaN]: readonly number[],
  { model }: { readonly model: string },
  threshold: number,
) {
  if (!areComparable([similarity])) return incomparable({ model });
  const isGrounded = similarity >= threshold;
  const raw = isGrounded ? 1 : similarity / threshold;
  return measuredWithin(raw, { similarity, threshold, is_grounded: isGrounded, model });
}
