import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';

/** The subset of protobuf that an ONNX file needs. */
const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const field = (number: number, content: number | string | readonly number[]): number[] => {
  if (typeof content === 'number') return [...varint(number * 8), ...varint(content)];
  const bytes = typeof content === 'string' ? [...Buffer.from(content)] : content;
  return [...varint(number * 8 + 2), ...varint(bytes.length), ...bytes];
};
const floats = (values: readonly number[]): number[] => [
  ...Buffer.from(Float32Array.from(values).buffer),
];

const FLOAT = 1;
const INT64 = 7;
const value = (name: string, type: number, dims: readonly (string | number)[]): number[] => {
  const shape = dims.flatMap((dim) =>
    field(1, typeof dim === 'number' ? field(1, dim) : field(2, dim)),
  );
  return [...field(1, name), ...field(2, field(1, [...field(1, type), ...field(2, shape)]))];
};
const node = (
  op: string,
  input: readonly string[],
  output: string,
  attributes: readonly number[][],
): number[] => [
  ...input.flatMap((name) => field(1, name)),
  ...field(2, output),
  ...field(3, op),
  ...field(4, op),
  ...attributes.flatMap((attribute) => field(5, attribute)),
];
const int = (name: string, i: number): number[] => [
  ...field(1, name),
  ...field(3, i),
  ...field(20, 2),
];
const ints = (name: string, list: readonly number[]): number[] => [
  ...field(1, name),
  ...list.flatMap((i) => field(8, i)),
  ...field(20, 7),
];
const mean = (input: string, output: string, axes: readonly number[]): number[] =>
  node('ReduceMean', [input], output, [ints('axes', axes), int('keepdims', 0)]);

function model(options: {
  nodes: readonly number[][];
  weights?: readonly number[];
  input: readonly number[];
  output: readonly number[];
}): Uint8Array {
  const graph = [
    ...options.nodes.flatMap((each) => field(1, each)),
    ...field(2, 'tiny'),
    ...(options.weights ? field(5, options.weights) : []),
    ...field(11, options.input),
    ...field(12, options.output),
  ];
  return Uint8Array.from([
    ...field(1, 8),
    ...field(7, graph),
    ...field(8, [...field(1, ''), ...field(2, 13)]),
  ]);
}

/** One direction per color. */
const WORDS = {
  '[UNK]': [1, 1, 1],
  '[PAD]': [0, 0, 0],
  red: [1, 0, 0],
  green: [0, 1, 0],
  blue: [0, 0, 1],
};

const TOKENIZER = {
  version: '1.0',
  added_tokens: [],
  normalizer: null,
  pre_tokenizer: { type: 'Whitespace' },
  post_processor: null,
  decoder: null,
  model: {
    type: 'WordLevel',
    vocab: Object.fromEntries(Object.keys(WORDS).map((word, i) => [word, i])),
    unk_token: '[UNK]',
  },
};
const TOKENIZER_FILES = {
  'tokenizer.json': TOKENIZER,
  'tokenizer_config.json': {
    tokenizer_class: 'PreTrainedTokenizerFast',
    model_max_length: 77,
    pad_token: '[PAD]',
    unk_token: '[UNK]',
  },
};

/**
 * Models of a few hundred bytes: a word is its color, an image its mean color, a text the mean of
 * its words.
 */
export function writeTinyModels(dir: string): { text: string; clip: string } {
  const weights = [
    ...[5, 3].flatMap((dim) => field(1, dim)),
    ...field(2, FLOAT),
    ...field(4, floats(Object.values(WORDS).flat())),
    ...field(8, 'words'),
  ];
  const gather = node('Gather', ['words', 'input_ids'], 'last_hidden_state', [int('axis', 0)]);
  const ids = value('input_ids', INT64, ['b', 's']);
  write(join(dir, 'tiny/text'), {
    ...TOKENIZER_FILES,
    'config.json': { model_type: 'bert' },
    'onnx/model.onnx': model({
      nodes: [gather],
      weights,
      input: ids,
      output: value('last_hidden_state', FLOAT, ['b', 's', 3]),
    }),
  });
  write(join(dir, 'tiny/clip'), {
    ...TOKENIZER_FILES,
    'config.json': { model_type: 'clip' },
    'preprocessor_config.json': {
      image_processor_type: 'CLIPImageProcessor',
      do_resize: true,
      size: { height: 8, width: 8 },
      do_center_crop: false,
      do_normalize: false,
      do_rescale: true,
      rescale_factor: 1 / 255,
      resample: 2,
    },
    'onnx/text_model.onnx': model({
      nodes: [gather, mean('last_hidden_state', 'text_embeds', [1])],
      weights,
      input: ids,
      output: value('text_embeds', FLOAT, ['b', 3]),
    }),
    'onnx/vision_model.onnx': model({
      nodes: [mean('pixel_values', 'image_embeds', [2, 3])],
      input: value('pixel_values', FLOAT, ['b', 3, 'h', 'w']),
      output: value('image_embeds', FLOAT, ['b', 3]),
    }),
  });
  return { text: 'tiny/text', clip: 'tiny/clip' };
}

function write(dir: string, files: Readonly<Record<string, object>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(
      join(dir, name),
      content instanceof Uint8Array ? content : JSON.stringify(content),
    );
  }
}

/** A single-color image. */
export function pngOf([r, g, b]: readonly [number, number, number], size = 8): Buffer {
  const u32 = (number: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(number >>> 0);
    return bytes;
  };
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    return Buffer.concat([u32(data.length), body, u32(crc32(body))]);
  };
  const row = Buffer.from([0, ...Array.from({ length: size }, () => [r, g, b]).flat()]);
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', Buffer.concat([u32(size), u32(size), Buffer.from([8, 2, 0, 0, 0])])),
    chunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: size }, () => row)))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
