import { z } from 'zod';
import { cosine } from '../cosine.ts';
import { answerOf, clamp01, mean, metadataOf, ownField } from '../input.ts';
import { NO_MODELS } from '../local-models.ts';
import { defineMetric, type MetricInput, measured, notMeasured } from '../metric.ts';
import { vectorOf, vectorsOf } from './given-vectors.ts';
import { mediaPath } from './media.ts';

export const metric = defineMetric({
  name: 'video_response_relevance',
  group: 'multimodal',
  layer: 'correctness',
  needs: ['a video (metadata.video_path or the trace), ffmpeg and a CLIP model, or embeddings in metadata'],
  summary: 'how well the answer fits the frames of the video it was given',
  params: () =>
    z.strictObject({
      num_frames: z.int().min(1).max(256).default(8).describe('frames looked at, evenly spaced'),
    }),
  evaluate: (input) => {
    const { num_frames } = input.params;
    const frames = vectorsOf(ownField(metadataOf(input), 'frame_embeddings'));
    const text = vectorOf(ownField(metadataOf(input), 'text_embedding'));
    if (!frames || !text) return fromModel(input, num_frames);
    const sampled = frameIndices(frames.length, num_frames);
    return scored(
      sampled.map((i) => cosine(frames[i]!, text)),
      { model: 'given embeddings', sampled_frames: sampled },
    );
  },
});

/** Evenly spaced frames; a short video gives the same frame more than once. */
const frameIndices = (total: number, wanted: number): number[] =>
  Array.from({ length: wanted }, (_, i) => Math.floor((i * total) / wanted));

async function fromModel(input: MetricInput, wanted: number) {
  const path = mediaPath(input, 'video');
  const answer = answerOf(input);
  if (path === undefined) return notMeasured('no video_path in metadata, and no video file in the trace');
  if (answer === undefined) return notMeasured('no answer captured');
  if (input.models === undefined) return notMeasured(NO_MODELS);
  const [frames, text] = await Promise.all([input.models.clipFrames(path, wanted), input.models.clipText(answer)]);
  if (!frames.ok) return notMeasured(frames.reason);
  if (!text.ok) return notMeasured(text.reason);
  return scored(
    frames.vectors.map((frame) => cosine(frame, text.vectors[0] ?? [])),
    { model: frames.model },
  );
}

function scored(similarities: readonly number[], more: Readonly<Record<string, unknown>>) {
  if (similarities.length === 0 || !similarities.every(Number.isFinite))
    return notMeasured('the embeddings cannot be compared', more);
  const average = mean(similarities);
  const best = Math.max(...similarities);
  const raw = 0.6 * average + 0.4 * best;
  return measured(clamp01(raw), {
    avg_frame_similarity: average,
    max_frame_similarity: best,
    min_frame_similarity: Math.min(...similarities),
    num_frames_analyzed: similarities.length,
    ...more,
    ...(raw === clamp01(raw) ? {} : { raw: { value: raw } }),
  });
}
