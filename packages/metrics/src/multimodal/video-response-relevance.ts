import { v } from '@agentci/lib/values';
import { cosine } from '../cosine.ts';
import { mean, metadataOf, ownField } from '../input.ts';
import { defineMetric } from '../metric.ts';
import { metricParams } from '../params.ts';
import {
  areComparable,
  compareWithMedia,
  incomparable,
  measuredWithin,
} from './clip-similarity.ts';
import { vectorOf, vectorsOf } from './given-vectors.ts';

export const metric = defineMetric({
  name: 'video_response_relevance',
  group: 'multimodal',
  layer: 'correctness',
  needs: [
    'a video (metadata.video_path or the trace), ffmpeg and a CLIP model, or embeddings in metadata',
  ],
  summary: 'how well the answer fits the frames of the video it was given',
  params: () =>
    metricParams({
      num_frames: v.int().min(1).max(256).default(8).describe('frames looked at, evenly spaced'),
    }),
  evaluate: (input) => {
    const { num_frames } = input.params;
    const frames = vectorsOf(ownField(metadataOf(input), 'frame_embeddings'));
    const text = vectorOf(ownField(metadataOf(input), 'text_embedding'));
    if (!frames || !text)
      return compareWithMedia(input, {
        kind: 'video',
        embed: (models, path) => models.clipFrames(path, num_frames),
        score: scored,
      });
    const sampled = frameIndices(frames.length, num_frames);
    return scored(
      sampled.map((i) => cosine(frames[i]!, text)),
      { model: 'given embeddings', sampled_frames: sampled },
    );
  },
});

/** Evenly spaced frames. A short video repeats frames. */
const frameIndices = (total: number, wanted: number): number[] =>
  Array.from({ length: wanted }, (_, i) => Math.floor((i * total) / wanted));

function scored(similarities: readonly number[], more: Readonly<Record<string, unknown>>) {
  if (!areComparable(similarities)) return incomparable(more);
  const average = mean(similarities);
  const best = Math.max(...similarities);
  const raw = 0.6 * average + 0.4 * best;
  return measuredWithin(raw, {
    avg_frame_similarity: average,
    max_frame_similarity: best,
    min_frame_similarity: Math.min(...similarities),
    num_frames_analyzed: similarities.length,
    ...more,
  });
}
