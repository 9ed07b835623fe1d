import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { Embeddings, LocalModels } from '../metrics/local-models.ts';

const TEXT_MODEL = 'Xenova/all-MiniLM-L6-v2';
const CLIP_MODEL = 'Xenova/clip-vit-base-patch32';
const FFMPEG_TIMEOUT_MS = 60_000;
const INSTALL = 'npm install @huggingface/transformers';

export interface LocalModelOptions {
  /** Paths of media are relative to it. */
  readonly dir: string;
  /**
   * `AGENTCI_MODELS` names a folder with models, laid out as on the hub; with it nothing is downloaded.
   * `AGENTCI_TEXT_MODEL` and `AGENTCI_CLIP_MODEL` choose others than the defaults.
   */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The part of the library that is used; it is optional, so its own types may not be there. */
interface Transformers {
  readonly env: { allowRemoteModels: boolean; localModelPath: string };
  readonly pipeline: (task: string, model: string) => Promise<(texts: string[], options: object) => Promise<Tensor>>;
  readonly AutoTokenizer: Loader<(texts: string[], options: object) => unknown>;
  readonly AutoProcessor: Loader<(images: unknown[]) => Promise<unknown>>;
  readonly CLIPTextModelWithProjection: Loader<(inputs: unknown) => Promise<{ text_embeds: Tensor }>>;
  readonly CLIPVisionModelWithProjection: Loader<(inputs: unknown) => Promise<{ image_embeds: Tensor }>>;
  readonly RawImage: { readonly read: (path: string) => Promise<unknown> };
}
interface Loader<T> {
  readonly from_pretrained: (model: string) => Promise<T>;
}
interface Tensor {
  readonly tolist: () => number[][];
}

/** Models on this machine. Nothing is loaded before it is asked for; what is missing is a reason, never a crash. */
export function createLocalModels({ dir, env }: LocalModelOptions): LocalModels {
  const textModel = env.AGENTCI_TEXT_MODEL || TEXT_MODEL;
  const clipModel = env.AGENTCI_CLIP_MODEL || CLIP_MODEL;
  const library = once(async (): Promise<Transformers> => {
    // A name in a variable keeps bundlers and type checkers from wanting an optional package.
    const name = '@huggingface/transformers';
    const loaded = (await import(name)) as Transformers;
    if (env.AGENTCI_MODELS) {
      loaded.env.allowRemoteModels = false;
      loaded.env.localModelPath = resolve(env.AGENTCI_MODELS);
    }
    return loaded;
  });
  const sentences = once(async () => (await library()).pipeline('feature-extraction', textModel));
  const texts = once(async () => {
    const { AutoTokenizer, CLIPTextModelWithProjection } = await library();
    return Promise.all([
      AutoTokenizer.from_pretrained(clipModel),
      CLIPTextModelWithProjection.from_pretrained(clipModel),
    ] as const);
  });
  const images = once(async () => {
    const { AutoProcessor, CLIPVisionModelWithProjection } = await library();
    return Promise.all([
      AutoProcessor.from_pretrained(clipModel),
      CLIPVisionModelWithProjection.from_pretrained(clipModel),
    ] as const);
  });
  const path = (given: string): string => (isAbsolute(given) ? given : join(dir, given));
  const clipImages = (paths: readonly string[]): Promise<Embeddings> =>
    attempt(clipModel, async () => {
      const { RawImage } = await library();
      const [process, model] = await images();
      const read = await Promise.all(paths.map((each) => RawImage.read(path(each))));
      return (await model(await process(read))).image_embeds.tolist();
    });
  return {
    embedTexts: (given) =>
      attempt(textModel, async () =>
        (await (await sentences())([...given], { pooling: 'mean', normalize: true })).tolist(),
      ),
    clipText: (text) =>
      attempt(clipModel, async () => {
        const [tokenize, model] = await texts();
        return (await model(tokenize([text], { padding: true, truncation: true }))).text_embeds.tolist();
      }),
    clipImages,
    clipFrames: (video, frames) => withFrames(path(video), frames, clipImages),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

async function attempt(model: string, work: () => Promise<number[][]>): Promise<Embeddings> {
  try {
    return { ok: true, vectors: await work(), model };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // Loaders word it differently; what they have in common is the name of what they did not find.
    const isAbsent = /cannot find|could not resolve/i.test(message) && message.includes('@huggingface/transformers');
    return { ok: false, reason: isAbsent ? `no embedding model: ${INSTALL}` : `${model}: ${message.slice(0, 300)}` };
  }
}

/** Evenly spaced frames of a video, by the ffmpeg of the system, in a folder that is gone afterwards. */
async function withFrames(
  video: string,
  wanted: number,
  use: (paths: readonly string[]) => Promise<Embeddings>,
): Promise<Embeddings> {
  const folder = await mkdtemp(join(tmpdir(), 'agentci-frames-'));
  try {
    const counted = await run('ffprobe', [
      ...['-v', 'error', '-select_streams', 'v:0', '-count_packets', '-show_entries', 'stream=nb_read_packets'],
      ...['-of', 'csv=p=0', video],
    ]);
    if (!counted.ok) return counted;
    const total = Number.parseInt(counted.text, 10);
    if (!(total > 0)) return { ok: false, reason: `${video} has no frames` };
    const indices = Array.from({ length: wanted }, (_, i) => Math.floor((i * total) / wanted));
    const chosen = [...new Set(indices)];
    const select = chosen.map((i) => `eq(n\\,${i})`).join('+');
    // New time stamps: with the old ones, some versions of ffmpeg repeat frames to fill the gaps.
    const filter = `select=${select},setpts=N/(FRAME_RATE*TB)`;
    const cut = await run('ffmpeg', [
      ...['-v', 'error', '-i', video, '-vf', filter, '-frames:v', String(chosen.length), join(folder, '%05d.png')],
    ]);
    if (!cut.ok) return cut;
    const files = (await readdir(folder)).sort();
    if (files.length !== chosen.length)
      return { ok: false, reason: `${files.length} of ${chosen.length} frames could be read from ${video}` };
    return await use(indices.map((index) => join(folder, files[chosen.indexOf(index)]!)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Ran = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

function run(command: string, args: readonly string[]): Promise<Ran> {
  return new Promise((done) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: FFMPEG_TIMEOUT_MS });
    let text = '';
    let errors = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.stderr.on('data', (chunk) => {
      errors = `${errors}${chunk}`.slice(-1000);
    });
    child.on('error', () => done({ ok: false, reason: `${command} is not installed: apt-get install ffmpeg` }));
    child.on('close', (code) =>
      done(code === 0 ? { ok: true, text } : { ok: false, reason: `${command}: ${errors.trim() || `code ${code}`}` }),
    );
  });
}
