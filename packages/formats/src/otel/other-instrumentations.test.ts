import type { Fields, Trace } from '@agentci/trace';
import { expect, test } from 'vitest';
import { readSpans } from './read-spans.ts';
import type { Span } from './span.ts';

const span = (id: string, name: string, attributes: Fields, more: Partial<Span> = {}): Span => ({
  id,
  traceId: 't',
  name,
  scope: 'app',
  attributes,
  resource: {},
  events: [],
  outcome: 'unset',
  record: { value: {} },
  ...(id === 'root' ? {} : { parent: 'root' }),
  ...more,
});

const said = JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'done' }] }]);
const root = (more: Fields = {}): Span =>
  span('root', 'invoke_agent a', {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'a',
    ...more,
  });
const chat = (more: Fields = {}): Span =>
  span('chat', 'chat m', {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm',
    'gen_ai.output.messages': said,
    ...more,
  });

const read = (...spans: Span[]): Trace => {
  const [item] = readSpans(spans, 'otlp-json');
  if (item?.ok !== true) throw new Error('not read');
  return item.trace;
};
const calls = ({ steps }: Trace): string[] =>
  steps.flatMap((step) => (step.kind === 'tool' ? [step.name] : []));

test.each<[string, string, Fields, string]>([
  [
    'an attribute span.type of any vendor',
    'wipe',
    { 'acme.span.type': 'TOOL', 'acme.span.input': '{}' },
    'wipe',
  ],
  ['a plain type', 'wipe', { 'acme.type': 'tool' }, 'wipe'],
  [
    'a kind, and the name beside it',
    'x',
    { 'acme.span.kind': 'tool_call', 'acme.tool.name': 'wipe' },
    'wipe',
  ],
  [
    'a type in an object of span attributes',
    'y',
    { 'acme.span_attributes': '{"type":"tool","name":"wipe"}' },
    'wipe',
  ],
  [
    'an operation that calls a function',
    'z',
    { 'gen_ai.operation.name': 'call_function', 'gen_ai.function.name': 'wipe' },
    'wipe',
  ],
  [
    'a component that invokes tools, unnamed',
    'acme.run',
    { 'acme.component.type': 'ToolInvoker' },
    'unknown',
  ],
  ['a call of MCP in the names of RPC', 'POST /mcp', { 'rpc.method': 'tools/call' }, 'unknown'],
  ['a name of a span that is a tool’s', 'langchain4j.tools.wipe', {}, 'wipe'],
  ['a name that ends in .tool', 'wipe.tool', {}, 'wipe'],
  [
    'a method that calls whichever tool',
    'Tool.__call__',
    { 'mlflow.spanType': '"TOOL"' },
    'unknown',
  ],
])('a span that says it is a tool’s is a call: %s', (_, name, attributes, expected) => {
  expect(calls(read(root(), chat(), span('tool', name, attributes)))).toEqual([expected]);
});

test.each<[string, string, Fields]>([
  ['a database call', 'SELECT', { 'db.operation': 'select', 'db.system': 'pg' }],
  ['a request', 'GET /', { 'http.request.method': 'GET', 'http.response.status_code': 200 }],
  [
    'a chain',
    'RunnableSequence',
    { 'openinference.span.kind': 'CHAIN', 'input.value': '{}', 'output.value': '{}' },
  ],
  ['the type of a tool’s definition', 'setup', { 'gen_ai.tool.type': 'function' }],
])('a span that says nothing of the kind changes nothing: %s', (_, name, attributes) => {
  const trace = read(root(), chat(), span('other', name, attributes));
  expect(calls(trace)).toEqual([]);
  expect(trace.captured.toolCalls).toBe('full');
});

const wipeCall = [{ id: '1', type: 'function', function: { name: 'wipe', arguments: '{}' } }];
test.each<[string, Fields]>([
  ['reasons as JSON text', { 'gen_ai.response.finish_reasons': '["tool_calls"]' }],
  [
    'one reason beside a list that differs',
    { 'gen_ai.response.finish_reasons': ['stop'], 'gen_ai.response.finish_reason': 'tool_calls' },
  ],
  ['a reason to stop', { 'gen_ai.response.stop_reason': 'tool_use' }],
  [
    'a reply in an attribute of its own',
    { response_data: JSON.stringify({ message: { tool_calls: wipeCall } }) },
  ],
  [
    'items of a response',
    { output: JSON.stringify([{ type: 'function_call', name: 'wipe', call_id: 'c' }]) },
  ],
  [
    'events in one attribute',
    {
      events: JSON.stringify([
        { 'event.name': 'gen_ai.choice', message: { tool_calls: wipeCall } },
      ]),
    },
  ],
  [
    'a history that is cut in a call',
    {
      'gen_ai.input.messages':
        '[{"role":"assistant","parts":[{"type":"tool_call","id":"1","name":"wipe"',
    },
  ],
  [
    'numbers of messages with a hole',
    { 'llm.input_messages.0.message.role': 'user', 'llm.input_messages.4.message.role': 'user' },
  ],
])('a call that a reply’s attributes point at makes calls partly known: %s', (_, attributes) => {
  expect(read(root(), chat(attributes)).captured.toolCalls).toBe('partial');
});

test('an agent’s list of all messages counts next to text replies', () => {
  const all = JSON.stringify([
    { role: 'assistant', parts: [{ type: 'tool_call', id: '1', name: 'wipe', arguments: {} }] },
  ]);
  expect(read(root({ 'pydantic_ai.all_messages': all }), chat()).captured.toolCalls).toBe(
    'partial',
  );
});

test('tool definitions are not calls', () => {
  const tools = JSON.stringify([{ type: 'function', function: { name: 'wipe', parameters: {} } }]);
  const request = JSON.stringify({ tools: [{ type: 'function', name: 'wipe', description: 'd' }] });
  expect(read(root(), chat({ 'gen_ai.tool.definitions': tools, request })).captured.toolCalls).toBe(
    'full',
  );
});

test('a result in an event of a span without a step is a result without its call', () => {
  const event = { name: 'gen_ai.tool.message', attributes: { content: 'ok', id: 'c1' } };
  expect(
    read(root(), chat(), span('s', 'graph step', {}, { events: [event] })).captured.toolCalls,
  ).toBe('partial');
});

test('work of an unknown kind with input and output may be a call', () => {
  const trace = read(root(), chat(), span('s', 'sandbox', { code: 'wipe()', output: 'ok' }));
  expect(trace.captured.toolCalls).toBe('partial');
  expect(trace.warnings.map(({ code }) => code)).toContain('STEP_UNKNOWN');
});
