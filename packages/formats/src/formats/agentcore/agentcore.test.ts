import { readAll, readOne } from '@agentci/testing/read-all';
import { finalText, toolNames } from '@agentci/trace';
import { expect, test } from 'vitest';

const trace = {
  traceId: '698a0000000000000000000000000001',
  flags: 1,
  resource: { attributes: {} },
};
const span = (attributes: object) => ({
  ...trace,
  spanId: '00000000000000d3',
  scope: { name: 'strands.telemetry.tracer' },
  name: 'chat',
  startTimeUnixNano: 1770000000000000000,
  endTimeUnixNano: 1770000001000000000,
  attributes: { 'gen_ai.operation.name': 'chat', ...attributes },
  status: { code: 'OK' },
});
const log = (body: unknown, name = 'strands.telemetry.tracer') => ({
  ...trace,
  spanId: '00000000000000d3',
  scope: { name },
  timeUnixNano: 1770000001000000000,
  attributes: { 'event.name': name },
  body,
});
const reply = (message: string, finish_reason: string) => ({
  input: { messages: [{ role: 'user', content: 'Is it dry?' }] },
  output: { messages: [{ role: 'assistant', content: { message, finish_reason } }] },
});
const asks = reply(
  '[{"toolUse": {"toolUseId": "t1", "name": "moisture", "input": {}}}]',
  'tool_use',
);

test.each([
  ['under raw_otel_json', (value: object) => ({ raw_otel_json: value })],
  ['under raw_otel_json as text', (value: object) => ({ raw_otel_json: JSON.stringify(value) })],
  ['under @message', (value: object) => ({ '@timestamp': 'x', '@message': JSON.stringify(value) })],
  ['as they are', (value: object) => value],
])('spans and log records %s are joined', async (_, wrap) => {
  const read = await readOne([wrap(span({})), wrap(log(asks))]);
  expect(read.source.format).toBe('agentcore');
  expect([toolNames(read), read.captured.toolCalls]).toEqual([['moisture'], 'full']);
});

test('a page of aws logs is read', async () => {
  const events = [span({}), log(asks)].map((value) => ({
    timestamp: 1,
    message: JSON.stringify(value),
  }));
  expect(toolNames(await readOne({ events, searchedLogStreams: [] }))).toEqual(['moisture']);
});

test('spans whose replies are elsewhere do not say that nothing was called', async () => {
  const read = await readOne([{ raw_otel_json: span({}) }]);
  expect(read.captured.toolCalls).toBe('none');
});

test('what the assistant said earlier is not the answer', async () => {
  const body = reply('[{"text": "Yes."}]', 'end_turn');
  body.output.messages.unshift({
    role: 'assistant',
    content: { content: '[{"text": "Hello."}]' } as never,
  });
  expect(finalText(await readOne([log(body)]))).toBe('Yes.');
});

test('a file of lines of the program alone is refused', async () => {
  const { traces, problems } = await readAll([
    { raw_otel_json: log('Invocation completed', 'bedrock_agentcore.app') },
  ]);
  expect([traces, problems.length]).toEqual([[], 1]);
});
