import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tempDir } from '../../test/support/temp-dir.ts';
import { pngOf, writeTinyModels } from '../../test/support/tiny-models.ts';
import { resolveMetrics } from '../metrics/registry.ts';
import { createLocalModels } from './local-models.ts';

const LIBRARY = '@huggingface/transformers';
const hasLibrary = await import(LIBRARY).then(
  () => true,
  () => false,
);
const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0 && spawnSync('ffprobe', ['-version']).status === 0;

function setUp() {
  const dir = tempDir();
  const { text, clip } = writeTinyModels(join(dir, 'models'));
  writeFileSync(join(dir, 'red.png'), pngOf([255, 0, 0]));
  const env = { AGENTCI_MODELS: join(dir, 'models'), AGENTCI_TEXT_MODEL: text, AGENTCI_CLIP_MODEL: clip };
  return { dir, models: createLocalModels({ dir, env }) };
}

// The library is optional and large; where it is not installed only its absence can be tested.
describe.skipIf(!hasLibrary)('with @huggingface/transformers and models in a folder', () => {
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

  test('a model or an image that is not there is a reason', async () => {
    const { dir, models } = setUp();
    expect(await models.clipImages(['absent.png'])).toMatchObject({ ok: false });
    const env = { AGENTCI_MODELS: join(dir, 'models'), AGENTCI_TEXT_MODEL: 'tiny/absent' };
    expect(await createLocalModels({ dir, env }).embedTexts(['a'])).toMatchObject({
      ok: false,
      reason: expect.stringContaining('tiny/absent'),
    });
  });

  test.skipIf(!hasFfmpeg)('frames of a video are cut by ffmpeg', async () => {
    const { dir, models } = setUp();
    const video = join(dir, 'red.mp4');
    spawnSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'color=red:s=32x32:d=1', video]);
    expect(await models.clipFrames('red.mp4', 4)).toMatchObject({ ok: true, vectors: { length: 4 } });
  });
});

test.skipIf(hasLibrary)('without the library the reason is the command that installs it', async () => {
  const { models } = setUp();
  expect(await models.embedTexts(['a'])).toEqual({ ok: false, reason: `no embedding model: npm install ${LIBRARY}` });
  const [metric] = resolveMetrics(['cross_modal_grounding']);
  const output = await metric!.evaluate({ case: { metadata: { image_path: 'red.png' } }, outcome: 'red', models });
  expect(output).toMatchObject({ value: null, detail: { reason: expect.stringContaining('npm install') } });
});

test.skipIf(hasFfmpeg)('without ffmpeg the reason is the command that installs it', async () => {
  expect(await setUp().models.clipFrames('x.mp4', 2)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('install ffmpeg'),
  });
});
