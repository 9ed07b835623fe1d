import { capturedTrace } from '@agentci/formats';
import { attributeList, otlp, type SmallSpan } from '@agentci/testing/otlp';
import { toolNames } from '@agentci/trace';
import { expect, test } from 'vitest';
import { SpanBook } from './span-book.ts';

const said = JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'done' }] }]);
const chat: SmallSpan = {
  id: 'c',
  name: 'chat m',
  attributes: {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm',
    'gen_ai.output.messages': said,
  },
};
const one = (name: string, attributes: Record<string, string> = {}): object =>
  otlp([chat, { id: 't', name, attributes }]);
const log = (attributes: Record<string, string>, more: object): object => ({
  ...otlp([chat]),
  resourceLogs: [
    { scopeLogs: [{ logRecords: [{ attributes: attributeList(attributes), ...more }] }] },
  ],
});
const kv = (values: Record<string, object>): object => ({
  kvlistValue: { values: Object.entries(values).map(([key, value]) => ({ key, value })) },
});
const choice = kv({
  message: kv({
    tool_calls: {
      arrayValue: {
        values: [
          kv({ id: { stringValue: 'a' }, function: kv({ name: { stringValue: 'refund' } }) }),
        ],
      },
    },
  }),
});

const read = (...requests: object[]) => {
  const book = new SpanBook({ since: 0 });
  for (const request of requests) book.add(request, 1000);
  const [item] = capturedTrace({
    exchanges: [],
    telemetry: book.requests().map((value) => ({ value })),
  });
  if (item?.ok !== true) throw new Error('not read');
  return item.trace;
};

test.each<[string, object]>([
  ['a span named after the convention, without attributes', one('execute_tool refund')],
  ['the same with its system alone', one('execute_tool refund', { 'gen_ai.system': 'openai' })],
  ['a kind of LangSmith', one('refund', { 'langsmith.span.kind': 'tool' })],
  ['a kind of Weave', one('refund', { 'wandb.span.kind': 'tool' })],
  [
    'the AI SDK without its operation’s id',
    one('ai.toolCall', { 'ai.toolCall.name': 'refund', 'ai.toolCall.id': 'z' }),
  ],
  [
    'a log of Claude Code without its scope',
    log(
      { 'event.name': 'tool_result', tool_name: 'refund' },
      { body: { stringValue: 'claude_code.tool_result' } },
    ),
  ],
  [
    'a log of another program',
    log({ 'event.name': 'acme_cli.tool_call', function_name: 'refund' }, {}),
  ],
])('a call is kept and read: %s', (_, request) => {
  const trace = read(request);
  expect(toolNames(trace)).toEqual(['refund']);
});

test.each<[string, object]>([
  ['a message of a log without a span', log({}, { eventName: 'gen_ai.choice', body: choice })],
  [
    'an event of a span',
    otlp([
      chat,
      {
        id: 't',
        name: 'step',
        events: [{ name: 'call', attributes: { 'gen_ai.tool.name': 'refund' } }],
      },
    ]),
  ],
])('a call that is only mentioned makes the calls partly known: %s', (_, request) => {
  const trace = read(request);
  expect(trace.captured.toolCalls).toBe('partial');
  expect(trace.warnings.map(({ code }) => code)).toContain('CALLS_HINTED');
});

test('spans that differ only in their kind are separate', () => {
  const kinds = ['chain', 'tool'].map((kind, i) => ({
    id: `t${i}`,
    name: 'refund',
    attributes: { 'langsmith.span.kind': kind },
  }));
  expect(toolNames(read(otlp([chat, ...kinds])))).toEqual(['refund']);
});

test('logs and spans of other things are passed over', () => {
  const trace = read(
    one('GET /', { 'http.request.method': 'GET' }),
    log({ 'event.name': 'login' }, {}),
  );
  expect([toolNames(trace), trace.captured.toolCalls]).toEqual([[], 'full']);
});
