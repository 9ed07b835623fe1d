import { isAbsolute, join, resolve } from 'node:path';
import type { Embeddings, LocalModels } from '@agentci/metrics';
import { withVideoFrames } from './video-frames.ts';

const TEXT_MODEL = 'Xenova/all-MiniLM-L6-v2';
const CLIP_MODEL = 'Xenova/clip-vit-base-patch32';
const INSTALL = 'npm install @huggingface/transformers';

export interface LocalModelOptions {
  /** Base folder of media paths. */
  readonly dir: string;
  /**
   * `AGENTCI_MODELS` names a folder with models, laid out as on the hub. Without it the default
   * cache of the library is used, and models are downloaded only with `AGENTCI_MODELS_DOWNLOAD=1`.
   * `AGENTCI_TEXT_MODEL` and `AGENTCI_CLIP_MODEL` replace the default models. `AGENTCI_FFMPEG`
   * names an ffmpeg that is not on the path.
   */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The part of the library in use. The library is optional, so its types may be missing. */
interface Transformers {
  readonly env: { allowRemoteModels: boolean; localModelPath: string };
  readonly pipeline: (
    task: string,
    model: string,
  ) => Promise<(texts: string[], options: object) => Promise<Tensor>>;
  readonly AutoTokenizer: Loader<(texts: string[], options: object) => unknown>;
  readonly AutoProcessor: Loader<(images: unknown[]) => Promise<unknown>>;
  readonly CLIPTextModelWithProjection: Loader<
    (inputs: unknown) => Promise<{ text_embeds: Tensor }>
  >;
  readonly CLIPVisionModelWithProjection: Loader<
    (inputs: unknown) => Promise<{ image_embeds: Tensor }>
  >;
  readonly RawImage: { readonly read: (path: string) => Promise<unknown> };
}
interface Loader<T> {
  readonly from_pretrained: (model: string) => Promise<T>;
}
interface Tensor {
  readonly tolist: () => number[][];
}

/** Models on this machine, loaded on first use. A missing model is a reason, never a crash. */
export function createLocalModels({ dir, env }: LocalModelOptions): LocalModels {
  const textModel = env.AGENTCI_TEXT_MODEL || TEXT_MODEL;
  const clipModel = env.AGENTCI_CLIP_MODEL || CLIP_MODEL;
  const library = once(async (): Promise<Transformers> => {
    // A variable keeps bundlers and type checkers from resolving the optional package.
    const name = '@huggingface/transformers';
    const loaded = (await import(name)) as Transformers;
    // Never uses the network without permission.
    loaded.env.allowRemoteModels = env.AGENTCI_MODELS_DOWNLOAD === '1' && !env.AGENTCI_MODELS;
    if (env.AGENTCI_MODELS) loaded.env.localModelPath = resolve(env.AGENTCI_MODELS);
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
        return (
          await model(tokenize([text], { padding: true, truncation: true }))
        ).text_embeds.tolist();
      }),
    clipImages,
    clipFrames: (video, wanted) =>
      withVideoFrames(
        { video: resolve(path(video)), wanted, ffmpeg: env.AGENTCI_FFMPEG || 'ffmpeg' },
        clipImages,
      ),
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
    // Loaders phrase it differently, but all mention the missing name.
    const isAbsent =
      /cannot find|could not resolve/i.test(message) &&
      message.includes('@huggingface/transformers');
    return {
      ok: false,
      reason: isAbsent ? `no embedding model: ${INSTALL}` : `${model}: ${message.slice(0, 300)}`,
    };
  }
}
