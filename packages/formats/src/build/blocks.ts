import type { Part } from '@agentci/trace';
import { type Fields, isFields, UNNAMED } from '@agentci/trace';
import type { Call, Turn } from './draft.ts';
import { argumentsOf, fields, label, pick, resultOf, text } from './values.ts';

/** Content of a message: text, requested calls, results. */
export interface Content {
  readonly parts: Part[];
  readonly calls: Call[];
  readonly results: Turn[];
}

export { UNNAMED };

/** Reads a content that is text, a block, or a list of blocks of any provider. */
export function contentOf(value: unknown): Content {
  const content: Content = { parts: [], calls: [], results: [] };
  for (const block of Array.isArray(value) ? value : [value]) readBlock(block, content);
  return content;
}

function readBlock(block: unknown, into: Content): void {
  if (typeof block === 'string') {
    if (block !== '' && !readPrinted(block, into))
      into.parts.push({ type: 'text', text: text(block) ?? '' });
    return;
  }
  if (!isFields(block)) return;
  const type = typeof block.type === 'string' ? block.type : keyOf(block);
  const read = type === undefined || !Object.hasOwn(READERS, type) ? undefined : READERS[type];
  if (read !== undefined) read(block, into);
  else if (typeof block.text === 'string')
    into.parts.push({ type: 'text', text: text(block.text) ?? '' });
  // A kind of call that is not known yet is a call still.
  else if (type !== undefined && isCallLike(type, block)) call()(block, into);
  else into.parts.push({ type: 'json', data: block });
}

const isCallLike = (type: string, block: Fields): boolean =>
  /(?:use|call)$/i.test(type) && typeof block.name === 'string';

/** Whether a block of an unknown kind may be a call: by its kind, or by its shape. */
export function mayBeCall(block: unknown): boolean {
  if (!isFields(block)) return false;
  const { type } = block;
  if (
    typeof type === 'string' &&
    CALL_WORDS.test(type) &&
    !/(?:result|output|response|text|summary)s?$/i.test(type)
  )
    return true;
  const hasName = ['name', 'tool', 'toolName', 'tool_name', 'function'].some(
    (key) => typeof block[key] === 'string',
  );
  return (
    hasName && ['input', 'arguments', 'args', 'parameters'].some((key) => Object.hasOwn(block, key))
  );
}
const CALL_WORDS =
  /(?:^|[_.-])(?:tool|call|function|invoke|invocation|exec|execute|execution|command|action|use)|(?:Tool|Call|Function|Invocation|Execution|Command|Action|Use)/;

/** Untyped blocks are named by their only significant key. */
const keyOf = (block: Fields): string | undefined =>
  UNTYPED.find((key) => block[key] !== null && Object.hasOwn(block, key));
const UNTYPED = [
  'toolUse',
  'toolResult',
  'reasoningContent',
  'functionCall',
  'function_call',
  'functionResponse',
  'function_response',
  'inlineData',
  'inline_data',
  'fileData',
  'file_data',
  'executableCode',
  'image',
  'document',
  'video',
];

type Reader = (block: Fields, into: Content) => void;

const say: Reader = (block, into) => {
  const said = text(pick(block, 'text', 'content', 'value'));
  if (said === undefined || said === '' || readPrinted(said, into)) return;
  into.parts.push({ type: isThought(block) ? 'reasoning' : 'text', text: said });
};

/** An instrumentation that prints the SDK's object in place of its content: a call all the same. */
const PRINTED =
  /^ResponseFunctionToolCall\(arguments='((?:[^'\\]|\\.)*)', call_id='([^'\\]*)', name='([^'\\]*)'/;

function readPrinted(said: string, into: Content): boolean {
  if (!said.startsWith('ResponseFunctionToolCall(')) return false;
  const [, args = '', id = '', name = ''] = PRINTED.exec(said) ?? [];
  into.calls.push({
    name: label(name) ?? UNNAMED,
    ...argumentsOf(args.replace(/\\(['\\])/g, '$1')),
    id: label(id),
  });
  return true;
}
const isThought = ({ thought }: Fields): boolean => thought === true;

const think: Reader = (block, into) => {
  const inner = fields(fields(block.reasoningContent).reasoningText);
  const said = text(pick(block, 'thinking', 'reasoning', 'text', 'content') ?? inner.text);
  if (said !== undefined && said !== '') into.parts.push({ type: 'reasoning', text: said });
};

/** A call: the block itself, or the value under a key. */
const call =
  (key?: string, by?: Call['by']): Reader =>
  (block, into) => {
    const source = key === undefined ? block : fields(block[key]);
    const name = label(pick(source, 'name', 'toolName', 'tool_name', 'function_name')) ?? UNNAMED;
    const id = label(
      pick(source, 'id', 'call_id', 'toolCallId', 'tool_call_id', 'toolUseId', 'callId'),
    );
    const given = pick(source, 'arguments', 'input', 'args', 'parameters');
    const isGemini = key === 'functionCall' || key === 'function_call';
    const isProviders = block.providerExecuted === true || block.provider_executed === true;
    into.calls.push({
      name,
      // Gemini omits empty arguments. Elsewhere an absent field was not captured.
      ...argumentsOf(given ?? (isGemini ? {} : undefined)),
      id,
      by: isProviders ? ('provider' as const) : by,
      server: label(source.server_name),
    });
  };

/** A result: its value, and whether the call failed. */
const result =
  (key?: string): Reader =>
  (block, into) => {
    const source = key === undefined ? block : fields(block[key]);
    const given = pick(source, 'output', 'result', 'response', 'content', 'error');
    const { value, parts, failed } = outcomeOf(given);
    const isError = failed ?? failureFlag(source);
    let status: 'error' | 'ok' | undefined;
    if (isError === undefined) status = undefined;
    else if (isError) status = 'error';
    else status = 'ok';
    into.results.push({
      role: 'tool',
      parts,
      result: value,
      callId: label(
        pick(
          source,
          'tool_use_id',
          'tool_call_id',
          'toolCallId',
          'toolUseId',
          'call_id',
          'callId',
          'id',
        ),
      ),
      name: label(pick(source, 'name', 'toolName', 'tool_name')),
      status,
      error: isError === true ? { message: messageOf(value) } : undefined,
    });
  };

/**
 * Gemini's convention: `output` holds the result and `error` the failure. Any other object is the
 * output.
 */
function geminiResult(given: Fields): Fields {
  const { response, ...rest } = given;
  if (!isFields(response)) return given;
  const error = pick(response, 'error');
  if (error !== undefined) return { ...rest, output: error, is_error: true };
  const isWrapped = Object.hasOwn(response, 'output') && Object.keys(response).length === 1;
  return isWrapped ? { ...rest, output: response.output, is_error: false } : given;
}

/** Whether a block or message reports failure. Undefined if it does not say. */
export function failureFlag(source: Fields): boolean | undefined {
  const given = pick(source, 'is_error', 'isError');
  if (typeof given === 'boolean') return given;
  if (source.type === 'tool-error' || source.state === 'output-error') return true;
  if (source.type === 'tool_result' || source.type === 'tool-result') return false;
  if (source.status === 'error' || source.status === 'failed') return true;
  return source.status === 'success' || source.status === 'completed' ? false : undefined;
}

const OUTPUT_TYPES: Readonly<Record<string, boolean>> = {
  text: false,
  json: false,
  content: false,
  'error-text': true,
  'error-json': true,
  'execution-denied': true,
};

/** A result's value: plain, in blocks, or the AI SDK's `{type, value}`. */
export function outcomeOf(given: unknown): {
  value: unknown;
  parts: Part[];
  failed: boolean | undefined;
} {
  if (
    isFields(given) &&
    typeof given.type === 'string' &&
    Object.hasOwn(OUTPUT_TYPES, given.type) &&
    'value' in given
  ) {
    const inner = outcomeOf(given.value);
    return { ...inner, failed: OUTPUT_TYPES[given.type] };
  }
  if (
    !Array.isArray(given) ||
    !given.every(
      (item) =>
        isFields(item) && (typeof item.type === 'string' || 'text' in item || 'json' in item),
    )
  )
    return { value: resultOf(given), parts: [], failed: undefined };
  const json =
    given.length === 1 && isFields(given[0]) && given[0].type === undefined
      ? given[0].json
      : undefined;
  if (json !== undefined) return { value: json, parts: [], failed: undefined };
  const { parts } = contentOf(given);
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const isText = texts.length > 0 && texts.length === parts.length;
  return {
    value: isText ? resultOf(texts.join('\n')) : given,
    parts: isText ? [] : parts,
    failed: undefined,
  };
}

const messageOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (value === undefined) return '';
  return JSON.stringify(value);
};

const gooseValue = (given: unknown): Fields => {
  const { value } = fields(given);
  if (Array.isArray(value)) return { content: value };
  if (isFields(value)) return value;
  return fields(given);
};

const media =
  (modality: 'image' | 'audio' | 'video' | 'document'): Reader =>
  (block, into) => {
    const source = isFields(block.source)
      ? block.source
      : fields(pick(block, modality, 'inlineData', 'inline_data', 'image_url', 'file'));
    const mime = label(
      pick(source, 'media_type', 'mimeType', 'mime_type') ??
        pick(block, 'mediaType', 'mime_type', 'mimeType'),
    );
    const uri = label(
      pick(source, 'url', 'uri', 'fileUri', 'file_uri') ?? pick(block, 'uri', 'url', 'image_url'),
    );
    const isData = uri?.startsWith('data:') === true;
    into.parts.push({
      type: 'media',
      modality: modalityOf(mime) ?? modality,
      mime,
      uri: isData ? undefined : uri,
    });
  };

function modalityOf(mime: string | undefined): 'image' | 'audio' | 'video' | undefined {
  const kind = mime?.split('/')[0];
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : undefined;
}

const READERS: Readonly<Record<string, Reader>> = {
  text: say,
  input_text: say,
  output_text: say,
  refusal: (block, into) => say({ text: block.refusal ?? block.text }, into),
  thinking: think,
  reasoning: think,
  reasoningContent: think,
  redacted_thinking: () => undefined,
  tool_use: call(),
  // An OpenAI call among the content. Without arguments it is a tool definition.
  function: (block, into) =>
    isFields(block.function) && Object.hasOwn(block.function, 'arguments')
      ? call('function')({ ...block, function: { id: block.id, ...block.function } }, into)
      : void into.parts.push({ type: 'json', data: block }),
  tool_call: call(),
  'tool-call': call(),
  function_call: (block, into) =>
    call(isFields(block.function_call) ? 'function_call' : undefined)(block, into),
  functionCall: call('functionCall'),
  toolUse: call('toolUse'),
  // Goose: a call, or why there is none, with its status around it.
  toolRequest: (block, into) =>
    call('call')({ call: { id: block.id, ...gooseValue(block.toolCall) } }, into),
  frontendToolRequest: (block, into) =>
    call('call')({ call: { id: block.id, ...gooseValue(block.toolCall) } }, into),
  toolResponse: (block, into) => {
    const { status, error } = fields(block.toolResult);
    const value = gooseValue(block.toolResult);
    const failed = status === 'error' || value.isError === true;
    result()({ id: block.id, output: value.content ?? error ?? value, is_error: failed }, into);
  },
  toolCall: call(),
  server_tool_use: call(undefined, 'provider'),
  server_tool_call: call(undefined, 'provider'),
  mcp_tool_use: call(undefined, 'mcp'),
  tool_result: result(),
  'tool-result': result(),
  'tool-error': result(),
  tool_call_response: result(),
  server_tool_call_response: result(),
  function_call_output: result(),
  mcp_tool_result: result(),
  web_search_tool_result: result(),
  web_fetch_tool_result: result(),
  code_execution_tool_result: result(),
  bash_code_execution_tool_result: result(),
  text_editor_code_execution_tool_result: result(),
  toolResult: result('toolResult'),
  function_response: (block, into) => result()(geminiResult(fields(block.function_response)), into),
  functionResponse: (block, into) => result()(geminiResult(fields(block.functionResponse)), into),
  image: media('image'),
  image_url: media('image'),
  input_image: media('image'),
  audio: media('audio'),
  input_audio: media('audio'),
  video: media('video'),
  document: media('document'),
  file: media('document'),
  input_file: media('document'),
  blob: media('document'),
  uri: media('document'),
  inlineData: media('document'),
  inline_data: media('document'),
  fileData: media('document'),
  file_data: media('document'),
};
