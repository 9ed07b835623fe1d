import type { Answer, ServedReply } from '@agentci/capture';
import { fields, parseJson } from '@agentci/formats';

const WORDS = 'This is a test of the connection.';

/** Answers every model call with the same text, in the format of its provider, without a model. */
export const cannedReply: Answer = async ({ route, uri, body }) => {
  const asked = fields(parseJson(body.toString('utf8')));
  const model = typeof asked.model === 'string' ? asked.model : 'test';
  const isStream = asked.stream === true || /:streamGenerateContent\b/.test(uri);
  switch (route) {
    case 'chat':
      return isStream
        ? events([
            chunkOf(model, { role: 'assistant', content: WORDS }),
            chunkOf(model, {}, 'stop'),
            '[DONE]',
          ])
        : json(chatOf(model));
    case 'responses':
      return isStream ? events(responseEvents(model)) : json(responseOf(model));
    case 'messages':
      return isStream ? events(messageEvents(model)) : json(messageOf(model));
    case 'generate':
      return isStream ? events([generatedOf()]) : json(generatedOf());
    case 'ollama':
      return json({
        model,
        created_at: '2026-01-01T00:00:00Z',
        message: { role: 'assistant', content: WORDS },
        response: WORDS,
        done: true,
        done_reason: 'stop',
        prompt_eval_count: 1,
        eval_count: 1,
      });
    case 'embeddings':
      return json({
        object: 'list',
        model,
        data: [{ object: 'embedding', index: 0, embedding: [0] }],
        embeddings: [[0]],
        usage: { prompt_tokens: 1, total_tokens: 1 },
      });
    case 'converse':
      return json({
        output: { message: { role: 'assistant', content: [{ text: WORDS }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
        metrics: { latencyMs: 1 },
      });
    default:
      return {
        ...json({ error: { message: 'this is a test of the connection: no model is asked' } }),
        status: 503,
      };
  }
};

const served = (type: string, chunks: readonly string[]): ServedReply => ({
  served: 'injected',
  status: 200,
  headers: { 'content-type': type },
  chunks: chunks.map((chunk) => Buffer.from(chunk)),
});
const json = (value: unknown): ServedReply => served('application/json', [JSON.stringify(value)]);
const events = (list: readonly unknown[]): ServedReply =>
  served(
    'text/event-stream',
    list.map((event) => {
      const type = fields(event).type;
      return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
    }),
  );

const chatOf = (model: string) => ({
  id: 'test',
  object: 'chat.completion',
  created: 0,
  model,
  choices: [{ index: 0, message: { role: 'assistant', content: WORDS }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const chunkOf = (model: string, delta: object, finish: string | null = null) => ({
  id: 'test',
  object: 'chat.completion.chunk',
  created: 0,
  model,
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const responseOf = (model: string) => ({
  id: 'test',
  object: 'response',
  created_at: 0,
  status: 'completed',
  model,
  output: [
    {
      id: 'm',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: WORDS, annotations: [] }],
    },
  ],
  usage: {
    input_tokens: 1,
    output_tokens: 1,
    total_tokens: 2,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
  },
});
const responseEvents = (model: string) => [
  {
    type: 'response.created',
    response: { ...responseOf(model), status: 'in_progress', output: [] },
  },
  {
    type: 'response.output_text.delta',
    item_id: 'm',
    output_index: 0,
    content_index: 0,
    delta: WORDS,
  },
  { type: 'response.completed', response: responseOf(model) },
];
const messageOf = (model: string) => ({
  id: 'test',
  type: 'message',
  role: 'assistant',
  model,
  content: [{ type: 'text', text: WORDS }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
});
const messageEvents = (model: string) => [
  { type: 'message_start', message: { ...messageOf(model), content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: WORDS } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 1 },
  },
  { type: 'message_stop' },
];
const generatedOf = () => ({
  candidates: [
    { index: 0, content: { role: 'model', parts: [{ text: WORDS }] }, finishReason: 'STOP' },
  ],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});
