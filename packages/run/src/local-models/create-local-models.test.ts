import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveMetrics } from '@agentci/metrics';
import { tempDir } from '@agentci/testing/temp-dir';
import { pngOf, writeTinyModels } from '@agentci/testing/tiny-models';
import installedFfmpeg from '@ffmpeg-installer/ffmpeg';
import { describe, expect, test } from 'vitest';
import { createLocalModels } from './create-local-models.ts';

/** The binary is a development dependency, so the machine does not need one. */
const FFMPEG = installedFfmpeg.path;

function setUp(more: Readonly<Record<string, string>> = { AGENTCI_FFMPEG: FFMPEG }) {
  const dir = tempDir();
  const { text, clip } = writeTinyModels(join(dir, 'models'));
  writeFileSync(join(dir, 'red.png'), pngOf([255, 0, 0]));
  const env = {
    AGENTCI_MODELS: join(dir, 'models'),
    AGENTCI_TEXT_MODEL: text,
    AGENTCI_CLIP_MODEL: clip,
    ...more,
  };
  return { dir, models: createLocalModels({ dir, env }) };
}

describe('with @huggingface/transformers and models in a folder', () => {
  test('texts and images become vectors without any download', async () => {
    const { models } = setUp();
    expect(await models.embedTexts(['red red', 'green'])).toMatchObject({
      ok: true,
      vectors: [
        [1, 0, 0],
        [0, 1, 0],
      ],
    });
    expect(await models.clipText('red')).toMatchObject({ ok: true, vectors: [[1, 0, 0]] });
    expect(await models.clipImages(['red.png'])).toMatchObject({ ok: true, vectors: [[1, 0, 0]] });
  });

  test.each([
    ['red', 1],
    ['blue', 0],
  ])('cross_modal_grounding of "%s" with a red picture is %d', async (answer, value) => {
    const [metric] = resolveMetrics(['cross_modal_grounding']);
    const output = await metric!.evaluate({
      case: { metadata: { image_path: 'red.png' } },
      outcome: answer,
      models: setUp().models,
    });
    expect(output).toMatchObject({ value, detail: { model: 'tiny/clip' } });
  });

  test('image_caption_accuracy is 0.7 of the meaning and 0.3 of the words', async () => {
    const [metric] = resolveMetrics(['image_caption_accuracy']);
    const output = await metric!.evaluate({
      case: { expected_output: 'red red green' },
      outcome: 'red green red',
      models: setUp().models,
    });
    expect(output.value).toBeCloseTo(1, 6);
    expect(output.detail).toMatchObject({ method: 'semantic and keywords', model: 'tiny/text' });
    const other = await metric!.evaluate({
      case: { expected_output: 'red' },
      outcome: 'blue',
      models: setUp().models,
    });
    expect(other.value).toBeCloseTo(0, 6);
  });

  test('a model or an image that is not there is a reason', async () => {
    const { dir, models } = setUp();
    expect(await models.clipImages(['absent.png'])).toMatchObject({ ok: false });
    const env = { AGENTCI_MODELS: join(dir, 'models'), AGENTCI_TEXT_MODEL: 'tiny/absent' };
    expect(await createLocalModels({ dir, env }).embedTexts(['a'])).toMatchObject({
      ok: false,
      reason: expect.stringContaining('tiny/absent'),
    });
  });

  /** A video of two seconds: first red, then blue. */
  const makeVideo = (dir: string, name: string): void => {
    const made = spawnSync(FFMPEG, [
      ...['-v', 'error', '-f', 'lavfi', '-i', 'color=red:s=32x32:d=1:r=10'],
      ...['-f', 'lavfi', '-i', 'color=blue:s=32x32:d=1:r=10'],
      ...['-filter_complex', '[0][1]concat=n=2', '-pix_fmt', 'yuv420p', join(dir, name)],
    ]);
    expect(made.stderr.toString()).toBe('');
  };

  test('frames of a video are cut evenly spaced, and a short video gives one more than once', async () => {
    const { dir, models } = setUp();
    makeVideo(dir, 'a video.mp4');
    const found = await models.clipFrames('a video.mp4', 4);
    const [first, second, third, last] = found.ok ? found.vectors : [];
    expect(found).toMatchObject({ ok: true, model: 'tiny/clip' });
    for (const red of [first!, second!]) expect(red[0]! - red[2]!).toBeGreaterThan(0.9);
    for (const blue of [third!, last!]) expect(blue[2]! - blue[0]!).toBeGreaterThan(0.9);
    const many = await models.clipFrames('a video.mp4', 60);
    expect(many).toMatchObject({ ok: true, vectors: { length: 60 } });
  });

  test('video_response_relevance is 0.6 of the mean and 0.4 of the best frame', async () => {
    const { dir, models } = setUp();
    makeVideo(dir, 'two.mp4');
    const [metric] = resolveMetrics([{ video_response_relevance: { num_frames: 4 } }]);
    const output = await metric!.evaluate({
      case: { metadata: { video_path: 'two.mp4' } },
      outcome: 'red',
      models,
    });
    expect(output.value).toBeCloseTo(0.6 * 0.5 + 0.4, 1);
    expect(output.detail).toMatchObject({ num_frames_analyzed: 4, model: 'tiny/clip' });
  });

  test.each([
    ['is not there', 'absent.mp4', undefined, 'ffmpeg'],
    ['is no video', 'noise.mp4', 'not a video', 'ffmpeg'],
    ['names other files', 'list.m3u8', '#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/x.ts\n', 'ffmpeg'],
  ])('a video that %s is a reason', async (_, name, content, reason) => {
    const { dir, models } = setUp();
    if (content !== undefined) writeFileSync(join(dir, name), content);
    expect(await models.clipFrames(name, 2)).toMatchObject({
      ok: false,
      reason: expect.stringContaining(reason),
    });
  });
});

test('without ffmpeg the reason is the command that installs it', async () => {
  const { models } = setUp({ AGENTCI_FFMPEG: join(tempDir(), 'ffmpeg') });
  expect(await models.clipFrames('x.mp4', 2)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('apt-get install ffmpeg'),
  });
});
