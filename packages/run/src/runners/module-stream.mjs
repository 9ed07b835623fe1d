// Reads streamed results of a module in its thread, because streams and promises cannot leave it.
const MAX_BYTES = 10 * 1024 * 1024;

/**
 * Reads a result completely. A plain value stays unchanged. A stream is read to its end, with the
 * time of each piece from `started`. A `Response` is read with its body. The result of the AI SDK's
 * `generateText` or `streamText` becomes its steps.
 */
export async function consume(value, started) {
  if (typeof value !== 'object' || value === null) return { value };
  if (isResponse(value)) return { response: await readResponse(value, started) };
  if ('fullStream' in value || isTextResult(value)) return readResult(value, started);
  const pieces = iterableOf('textStream' in value ? value.textStream : value);
  if (pieces === undefined) return { value };
  const { returned, ...stream } = await readPieces(pieces, started);
  return returned === undefined ? { stream } : resultOf(returned, stream);
}

const isResponse = (value) =>
  typeof value.status === 'number' &&
  typeof value.headers?.get === 'function' &&
  typeof value.text === 'function';

/** `generateText` returns an object with getters, which a copy would lose. */
const isTextResult = (value) =>
  'steps' in value && 'finishReason' in value && Array.isArray(value.steps);

/** An iterable that is not data. Lists, maps and the like are answers themselves. */
function iterableOf(value) {
  if (typeof value !== 'object' || value === null) return undefined;
  if (typeof value[Symbol.asyncIterator] === 'function') return value;
  return typeof value[Symbol.iterator] === 'function' && typeof value.next === 'function'
    ? value
    : undefined;
}

async function readResponse(response, started) {
  const { pieces, times } =
    response.body === null ? { pieces: [], times: [] } : await readPieces(response.body, started);
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    chunks: pieces,
    times,
  };
}

async function readPieces(source, started) {
  const pieces = [];
  const times = [];
  let bytes = 0;
  let returned;
  for await (const item of keepingReturn(source, (value) => {
    returned = value;
  })) {
    const piece = portable(item);
    bytes +=
      typeof piece === 'string' || piece instanceof Uint8Array
        ? piece.length
        : JSON.stringify(piece).length;
    if (bytes > MAX_BYTES)
      throw new Error(`the stream has more than ${MAX_BYTES / 1024 / 1024} MB`);
    pieces.push(piece);
    times.push(performance.now() - started);
  }
  return { pieces, times, returned: returned ?? undefined };
}

/** A generator may return its result after its pieces, which a loop over them does not show. */
async function* keepingReturn(source, onReturn) {
  const iterator = source[Symbol.asyncIterator]?.() ?? source[Symbol.iterator]();
  try {
    for (let next = await iterator.next(); ; next = await iterator.next()) {
      if (next.done) return onReturn(next.value);
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/**
 * The return value of a generator is its result. If that has no answer, the pieces are the answer.
 */
function resultOf(returned, { pieces, times }) {
  const isObject = typeof returned === 'object' && !Array.isArray(returned);
  const areTexts = pieces.length > 0 && pieces.every((piece) => typeof piece === 'string');
  const lacksAnswer = isObject && areTexts && !ANSWER_KEYS.some((key) => key in returned);
  const value = lacksAnswer ? { ...returned, answer: pieces.join('') } : returned;
  return { value, ttftMs: times[0] };
}

const ANSWER_KEYS = ['answer', 'final_answer', 'schema', 'steps', 'messages', 'error'];

function portable(item) {
  if (typeof item === 'string') return item;
  if (item instanceof Uint8Array) return new Uint8Array(item);
  if (typeof item === 'object' && item !== null) return plain(item);
  throw new Error(
    `a stream of ${item === null ? 'null' : typeof item} values; pieces are texts, bytes or objects`,
  );
}

/** As JSON, with the messages of errors, which JSON leaves out. */
const plain = (value) =>
  JSON.parse(
    JSON.stringify(value, (_, field) =>
      field instanceof Error ? { message: field.message } : field,
    ) ?? 'null',
  );

async function readResult(result, started) {
  let ttftMs;
  if ('fullStream' in result) {
    for await (const part of result.fullStream) {
      if (part.type === 'error')
        throw part.error instanceof Error ? part.error : new Error(String(part.error));
      if (part.type === 'abort') throw new Error('the stream was aborted before the answer ended');
      if (part.type === 'text-delta' || part.type === 'tool-call')
        ttftMs ??= performance.now() - started;
    }
  }
  const steps = (await result.steps) ?? [];
  return { value: { steps: steps.map(plainStep) }, ttftMs };
}

const STEP_FIELDS = [
  'content',
  'text',
  'toolCalls',
  'toolResults',
  'finishReason',
  'usage',
  'stepType',
];

function plainStep(step) {
  const { id, modelId, timestamp, messages } = step.response ?? {};
  const picked = Object.fromEntries(STEP_FIELDS.map((name) => [name, step[name]]));
  return plain({ ...picked, response: { id, modelId, timestamp, messages } });
}
