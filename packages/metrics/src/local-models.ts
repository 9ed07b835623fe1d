/** Models on this machine for semantic comparisons. A missing part says how to install it. */
export interface LocalModels {
  /** Sentence embeddings. */
  readonly embedTexts: (texts: readonly string[]) => Promise<Embeddings>;
  /** CLIP embeddings of a text, of images, and of evenly spaced frames of a video. */
  readonly clipText: (text: string) => Promise<Embeddings>;
  readonly clipImages: (paths: readonly string[]) => Promise<Embeddings>;
  readonly clipFrames: (video: string, frames: number) => Promise<Embeddings>;
}

export type Embeddings =
  | { readonly ok: true; readonly vectors: readonly (readonly number[])[]; readonly model: string }
  | { readonly ok: false; readonly reason: string };

/** The message if the caller gave no models. */
export const NO_MODELS =
  'no embedding model: npm install @huggingface/transformers, or give embeddings in case.metadata';
