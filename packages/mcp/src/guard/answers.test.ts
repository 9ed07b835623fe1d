import { explainAudit, parsePolicy, readAudit } from '@agentci/policy';
import { memoryAudit } from '@agentci/testing/memory-audit';
import { describe, expect, test } from 'vitest';
import { messageText } from '../message.ts';
import { Guard } from './guard.ts';
import type { GuardOptions } from './guard-options.ts';

/** A guard, with the messages that the client receives. */
function setUp(written: object, options: Partial<GuardOptions> = {}) {
  const { policy, diagnostics } = parsePolicy(JSON.stringify(written), { file: 'policy.yaml' });
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  const audit = memoryAudit();
  const problems: string[] = [];
  const guard = new Guard({
    policy,
    mode: 'enforce',
    strict: false,
    denyAs: 'result',
    server: undefined,
    auditArgs: 'redacted',
    now: () => 0,
    onProblem: (message) => problems.push(message),
    audit,
    ...options,
  });
  const session = guard.open('1');
  const client = (message: unknown): string => {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    const { forward, replies } = guard.fromClient(Buffer.from(`${text}\n`), session);
    return forward === undefined ? replies.map(messageText).join('\n') : 'passed';
  };
  const server = (message: unknown): string => {
    const text = Buffer.isBuffer(message)
      ? message
      : Buffer.from(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`);
    return guard.fromServer(text, session).toString();
  };
  const explained = () => {
    guard.close(session);
    return readAudit(audit.text(), 'audit.jsonl').map((one) =>
      explainAudit(one, policy, 'audit.jsonl'),
    )[0]!;
  };
  return { client, server, session, audit, problems, explained };
}

const call = (id: unknown, name: string, args: object = {}, more: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, ...more },
});
const answer = (id: unknown, result: unknown) => ({ jsonrpc: '2.0', id, result });
const text = (said: string) => ({ content: [{ type: 'text', text: said }] });

const SECRET = 'The merger price is 1,250,000 dollars and closes on Friday the 13th of March';
const DETECT = {
  rules: [{ type: 'detect', id: 'd', in: 'result', tool: 'read', pattern: 'merger price' }],
};
const FLOW = { flows: [{ id: 'f', from: { tool: 'read' }, to: { tool: 'send' }, allow: false }] };

describe('an expression is evaluated on every form of a result', () => {
  const said = (...texts: string[]) => ({
    content: texts.map((each) => ({ type: 'text', text: each })),
  });
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
  const leak = '{"status":"leaked"}';
  const ROWS: [string, string, object, 'handed on' | 'withheld'][] = [
    ['the text alone', "result != 'TOP SECRET'", said('TOP SECRET'), 'withheld'],
    [
      'empty structured content',
      "result != 'TOP SECRET'",
      { structuredContent: {}, ...said('TOP SECRET') },
      'withheld',
    ],
    ['an empty second text', "result != 'TOP SECRET'", said('TOP SECRET', ''), 'withheld'],
    ['a blank first text', "result != 'TOP SECRET'", said(' \n', 'TOP SECRET'), 'withheld'],
    ['a second text', "result != 'TOP SECRET'", said('TOP SECRET', 'bye'), 'withheld'],
    ['a line break at its end', "result != 'TOP SECRET'", said('TOP SECRET\n'), 'withheld'],
    ['a text in two halves', "!result.contains('SECRET')", said('TOP SEC', 'RET'), 'withheld'],
    [
      'an image',
      "result != 'TOP SECRET'",
      { content: [...said('TOP SECRET').content, image] },
      'withheld',
    ],
    [
      'a resource',
      "result != 'TOP SECRET'",
      { content: [{ type: 'resource', resource: { uri: 'a://b', text: 'TOP SECRET' } }] },
      'withheld',
    ],
    [
      'another value',
      "result.status != 'leaked'",
      { structuredContent: { status: 'ok' }, ...said(leak) },
      'withheld',
    ],
    [
      'no such field',
      "result.status != 'leaked'",
      { structuredContent: {}, ...said(leak) },
      'withheld',
    ],
    [
      'a harmless text',
      "!result.contains('key')",
      { structuredContent: { a: 'key' }, ...said('ok') },
      'withheld',
    ],
    [
      'a failed result',
      "call.error != 'no key'",
      { isError: true, ...said('no key', '') },
      'withheld',
    ],
    [
      'the same twice',
      "result.status != 'leaked'",
      { structuredContent: { n: 1, status: 'ok' }, ...said('{"n":1,"status":"ok"}') },
      'handed on',
    ],
    [
      'a text for people',
      "result.status != 'leaked'",
      { structuredContent: { status: 'ok' }, ...said('All is well.') },
      'handed on',
    ],
    [
      'a blank text',
      'result.size() > 0',
      { structuredContent: { status: 'ok' }, ...said('') },
      'handed on',
    ],
    ['_meta', "result == 'ok'", { ...said('ok'), _meta: { n: 1 } }, 'handed on'],
  ];

  test.each(ROWS)('with %s: %s', (_, expr, result, expected) => {
    const { client, server, explained } = setUp({
      rules: [{ type: 'expr', id: 'e', tool: 'read', expr }],
    });
    client(call(1, 'read'));
    const passed = `${JSON.stringify(answer(1, result))}\n`;
    expect(server(passed) === passed ? 'handed on' : 'withheld').toBe(expected);
    expect(explained().audit).toMatchObject({ decisions: 1, reproduced: 1, differs: [] });
  });

  test.each<[string, object]>([
    ['structured content beside it', { structuredContent: {}, ...said('untrusted') }],
    ['a second text', said('untrusted', '')],
  ])('what an earlier call gave is seen with %s', (_, result) => {
    const { client, server, explained } = setUp({
      rules: [
        {
          type: 'expr',
          id: 'e',
          tool: 'send',
          expr: "!previous.exists(p, p.result == 'untrusted')",
        },
      ],
    });
    client(call(1, 'read'));
    server(answer(1, result));
    expect(client(call(2, 'send'))).toContain('"rule":"e"');
    expect(explained().audit).toMatchObject({ decisions: 2, reproduced: 2, differs: [] });
  });

  test('an approval must be one in every form', () => {
    const policy = {
      flows: [
        {
          id: 'f',
          from: { tool: 'read' },
          to: { tool: 'send' },
          allow: false,
          unless: { approved_by: 'confirm', when: "result == 'yes'" },
        },
      ],
    };
    for (const [result, expected] of [
      [said('yes'), 'passed'],
      [said('yes', 'no, wait'), '"rule":"f"'],
      [{ structuredContent: 'yes', ...said('no') }, '"rule":"f"'],
    ] as const) {
      const { client, server } = setUp(policy);
      client(call(1, 'read'));
      server(answer(1, text(SECRET)));
      client(call(2, 'confirm'));
      server(answer(2, result));
      expect(client(call(3, 'send', { body: SECRET }))).toContain(expected);
    }
  });
});

describe('detect with a path looks into arguments that are JSON text', () => {
  test.each<[string, object, boolean]>([
    ['a value', { payload: { body: 'evil' } }, true],
    ['JSON text', { payload: '{"body":"evil"}' }, true],
    ['JSON text in JSON text', { payload: JSON.stringify({ body: '{"x":"evil"}' }) }, true],
    ['text that has no parts', { payload: 'evil' }, true],
    ['another part of JSON text', { payload: '{"note":"evil","body":"fine"}' }, false],
  ])('%s', (_, args, isRefused) => {
    const { client } = setUp({
      rules: [{ type: 'detect', id: 'd', path: 'payload.body', pattern: 'evil' }],
    });
    expect(client(call(1, 'send', args)) !== 'passed').toBe(isRefused);
  });
});

describe('a flow follows what a result says, not how it is wrapped', () => {
  const block = {
    mimeType: 'application/json',
    annotations: { audience: ['assistant'], priority: 1 },
  };
  test.each<[string, object, string, boolean]>([
    [
      'the type of an image',
      { content: [{ type: 'image', data: 'AAAA', ...block }] },
      'application/json',
      false,
    ],
    [
      'the audience of a text',
      { content: [{ type: 'text', text: 'hi', ...block }] },
      'for the assistant',
      false,
    ],
    [
      'the kind of a block',
      { content: [{ type: 'resource_link', uri: 'a://b' }] },
      'a resource_link',
      false,
    ],
    [
      'the type of a resource',
      {
        content: [
          { type: 'resource', resource: { uri: 'a://b', text: 'hi', mimeType: 'text/markdown' } },
        ],
      },
      'text/markdown',
      false,
    ],
    [
      'the data of an image',
      { content: [{ type: 'image', data: 'QUJDREVGR0g=', ...block }] },
      'QUJDREVGR0g',
      true,
    ],
    [
      'a type that is none',
      { content: [{ type: 'image', data: 'A', mimeType: SECRET }] },
      SECRET,
      true,
    ],
    [
      'another annotation',
      { content: [{ type: 'text', text: 'hi', annotations: { n: SECRET } }] },
      SECRET,
      true,
    ],
    [
      'a field of the tool',
      { structuredContent: { mimeType: 'application/json' } },
      'application/json',
      true,
    ],
  ])('%s', (_, result, body, isRefused) => {
    const { client, server } = setUp(FLOW);
    client(call(1, 'read'));
    server(answer(1, result));
    expect(client(call(2, 'send', { body })) !== 'passed').toBe(isRefused);
  });
});

describe('every part of an answer is looked at', () => {
  const ANSWERS: [string, object][] = [
    ['plain text', answer(1, text(SECRET))],
    ['text beside structured content', answer(1, { structuredContent: { n: 1 }, ...text(SECRET) })],
    [
      'structured content beside text',
      answer(1, { structuredContent: { n: SECRET }, ...text('ok') }),
    ],
    ['a key of structured content', answer(1, { structuredContent: { [SECRET]: 1 }, content: [] })],
    ['_meta', answer(1, { ...text('ok'), _meta: { note: SECRET } })],
    [
      '_meta of a text',
      answer(1, { content: [{ type: 'text', text: 'ok', _meta: { note: SECRET } }] }),
    ],
    [
      'an embedded resource',
      answer(1, { content: [{ type: 'resource', resource: { uri: 'a://b', text: SECRET } }] }),
    ],
    ['a failed result', answer(1, { isError: true, ...text(SECRET) })],
    ['the message of an error', { jsonrpc: '2.0', id: 1, error: { code: 1, message: SECRET } }],
    [
      'the data of an error',
      { jsonrpc: '2.0', id: 1, error: { code: 1, message: 'no', data: { why: SECRET } } },
    ],
    ['an id of another type', answer('1', text(SECRET))],
    ['an id of another type, padded', answer(' 1.0', text(SECRET))],
    [
      'an input_required that an older client takes for a result',
      answer(1, { resultType: 'input_required', ...text(SECRET) }),
    ],
  ];
  test.each(ANSWERS)('by detect: %s', (_, message) => {
    const { client, server, session, explained } = setUp(DETECT);
    expect(client(call(1, 'read'))).toBe('passed');
    const back = server(message);
    expect(back).not.toContain('Friday');
    expect(JSON.parse(back)).toMatchObject({
      id: 1,
      result: { _meta: { 'agentci/decision': { rule: 'd' } } },
    });
    expect(session.withheld).toBe(1);
    expect(explained().audit).toMatchObject({ differs: [], not_told: 0 });
  });

  test.each(ANSWERS)('by a flow: %s', (_, message) => {
    const { client, server, explained } = setUp(FLOW);
    client(call(1, 'read'));
    server(message);
    expect(client(call(2, 'send', { body: SECRET }))).toContain('"rule":"f"');
    expect(explained().audit).toMatchObject({ differs: [], not_told: 0 });
  });

  test.each<[string, object]>([
    ['a key', { [SECRET]: 1 }],
    ['a key inside', { list: [{ [SECRET]: 1 }] }],
  ])('what a flow carries in %s of an argument is found', (_, args) => {
    const { client, server } = setUp(FLOW);
    client(call(1, 'read'));
    server(answer(1, text(SECRET)));
    expect(client(call(2, 'send', args))).toContain('"rule":"f"');
  });

  test('the names of fields are not data that flows', () => {
    const { client, server } = setUp(FLOW);
    client(call(1, 'read'));
    server(answer(1, { structuredContent: { description: 'short', customer_id: 7 }, content: [] }));
    expect(client(call(2, 'send', { customer_id: 8, description: 'other' }))).toBe('passed');
  });

  test('an error that breaks nothing is handed on as it came', () => {
    const { client, server } = setUp(DETECT);
    client(call(1, 'read'));
    const error = `${JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'no such file' } })}\n`;
    expect(server(error)).toBe(error);
  });
});

describe('unread answers are withheld if the policy reads results', () => {
  const RAW = (said: string) =>
    `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"${said}"}]}}`;
  test.each<[string, string | Buffer]>([
    ['an id that no request has', RAW(SECRET).replace('"id":1', '"id":7')],
    ['an answer without an id', RAW(SECRET).replace('"id":1,', '')],
    ['a byte-order mark', `\ufeff${RAW(SECRET)}\n`],
    ['UTF-16', Buffer.from(RAW(SECRET), 'utf16le')],
    ['two values on a line', `{}${RAW(SECRET)}`],
    ['a message behind a carriage return', `{"x":\r${RAW(SECRET)}\r}`],
    ['nesting without end', `${'['.repeat(2000)}"${SECRET}"${']'.repeat(2000)}`],
    [
      'the result twice',
      RAW('ok')
        .replace('}}', `}}`)
        .replace('"result"', `"result":{"content":[{"type":"text","text":"${SECRET}"}]},"result"`),
    ],
    ['the result in other letters', RAW(SECRET).replace('"result"', '"Result"')],
    ['a method beside the result', RAW(SECRET).replace('"id":1', '"id":1,"method":"x"')],
    [
      'an error beside the result',
      RAW(SECRET).replace('"id":1', '"id":1,"error":{"code":1,"message":"x"}'),
    ],
    [
      'a task',
      `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t","status":"working","statusMessage":"${SECRET}"}}}`,
    ],
    [
      'news of a task',
      `{"jsonrpc":"2.0","method":"notifications/tasks","params":{"result":"${SECRET}"}}`,
    ],
  ])('%s', (_, message) => {
    const { client, server, session } = setUp(DETECT);
    client(call(1, 'other'));
    expect(server(message)).not.toContain('Friday');
    expect(session.withheld).toBe(1);
  });

  test('the late answer to a cancelled call is judged', () => {
    const { client, server } = setUp(DETECT);
    client(call(1, 'read'));
    client({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    expect(client(call(1, 'other'))).toContain('guard.duplicate_id');
    expect(server(answer(1, text(SECRET)))).not.toContain('Friday');
    expect(client(call(1, 'other'))).toBe('passed');
  });

  test('what it says reaches no later call, cancelled or not', () => {
    const { client, server } = setUp(FLOW);
    client(call(1, 'read'));
    client({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    server(answer(1, text(SECRET)));
    expect(client(call(2, 'send', { body: SECRET }))).toContain('"rule":"f"');
  });

  test('an answer that came twice is handed on once', () => {
    const { client, server } = setUp(DETECT);
    client(call(1, 'read'));
    expect(server(answer(1, text('ok')))).toContain('ok');
    expect(server(answer(1, text(SECRET)))).toBe('');
  });

  test('other requests are answered, and what servers ask and tell is passed on', () => {
    const { client, server } = setUp(DETECT);
    client({ jsonrpc: '2.0', id: 'p', method: 'ping' });
    expect(server(answer('p', {}))).not.toBe('');
    expect(
      server({ jsonrpc: '2.0', id: 5, method: 'sampling/createMessage', params: {} }),
    ).not.toBe('');
    expect(server({ jsonrpc: '2.0', method: 'notifications/progress', params: {} })).not.toBe('');
  });

  test.each([
    call(1, 'read', {}, { task: { ttl: 1 } }),
    { jsonrpc: '2.0', id: 1, method: 'tasks/result', params: { taskId: 't' } },
    { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId: 't' } },
  ])('a task is not begun, and its result not asked for: %j', (message) => {
    expect(setUp(DETECT).client(message)).toContain('guard.task');
    expect(setUp({ tools: { deny: ['x'] } }).client(message)).toBe('passed');
  });

  test('without rules about results nothing changes', () => {
    const { client, server } = setUp({ tools: { deny: ['x'] } });
    client(call(1, 'read'));
    for (const line of [
      'banner\n',
      `${RAW('a').replace('"id":1', '"id":7')}\n`,
      '{"result":{},"method":"x"}\n',
    ])
      expect(server(line)).toBe(line);
  });

  test('in shadow mode every byte is passed on', () => {
    const { client, server, session } = setUp(DETECT, { mode: 'shadow' });
    client(call(1, 'read'));
    for (const line of [`${RAW(SECRET)}\n`, 'banner\n', `${RAW('a')}\n`])
      expect(server(line)).toBe(line);
    expect(session.withheld).toBe(0);
  });
});

describe('input that a server asks for', () => {
  const META = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  const retry = (responses: object) =>
    call(2, 'send', {}, { _meta: META, requestState: 's', inputResponses: responses });
  const asked = answer(1, { resultType: 'input_required', requestState: 's', inputRequests: {} });
  test.each<[string, object, object, string]>([
    ['carries what a flow forbids', FLOW, { a: { content: { body: SECRET } } }, 'f'],
    [
      'holds a key',
      { rules: [{ type: 'detect', id: 'k', secrets: true }] },
      { a: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789' },
      'k',
    ],
  ])('is refused if it %s', (_, policy, responses, rule) => {
    const { client, server, explained, audit } = setUp(policy);
    client(call(0, 'read', {}, { _meta: META }));
    server(answer(0, text(SECRET)));
    expect(client(call(1, 'send', {}, { _meta: META }))).toBe('passed');
    server(asked);
    expect(client(retry(responses))).toContain(`"rule":"${rule}"`);
    expect(audit.text()).not.toContain('ghp_abcdef');
    expect(explained().audit).toMatchObject({ differs: [] });
  });

  test('continues the call if nothing forbids it', () => {
    const { client, server, explained, session } = setUp({
      ...FLOW,
      rules: [{ type: 'max_calls', tool: 'send', max: 1 }],
    });
    client(call(1, 'send', {}, { _meta: META }));
    server(asked);
    expect(client(retry({ a: { action: 'accept' } }))).toBe('passed');
    expect(session.calls).toBe(1);
    expect(explained().audit).toMatchObject({ differs: [], not_told: 0 });
  });

  test('and what the server asks is looked at too', () => {
    const { client, server } = setUp(DETECT);
    client(call(1, 'read', {}, { _meta: META }));
    const question = answer(1, {
      resultType: 'input_required',
      inputRequests: { a: { message: SECRET } },
    });
    expect(server(question)).not.toContain('Friday');
  });
});

describe('numbers and texts that are read in two ways', () => {
  const RAW =
    '{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"pay","arguments":{"n":NUMBER}}}';
  const ARGS = { rules: [{ type: 'detect', pattern: 'EVIL' }] };
  test('do not matter to a policy of names', () => {
    const { client } = setUp({ tools: { deny: ['x'] } });
    expect(client(RAW.replace('ID', '1').replace('NUMBER', '12345678901234567890'))).toBe('passed');
  });

  test.each([
    ['9007199254740993', 'guard.odd_number'],
    ['100.000000000000001', 'guard.odd_number'],
    ['1e999', 'guard.odd_number'],
    ['"\\ud800"', 'guard.odd_text'],
    ['{"\\uDC00x":1}', 'guard.odd_text'],
  ])('%s is refused', (number, rule) => {
    const { client } = setUp(ARGS);
    expect(client(RAW.replace('ID', '1').replace('NUMBER', number))).toContain(rule);
  });

  test.each(['9007199254740992', '1.0', '1e2', '0.1', '"\\ud83d\\ude00"', '"9007199254740993"'])(
    '%s is not',
    (number) => {
      const { client } = setUp(ARGS);
      expect(client(RAW.replace('ID', '1').replace('NUMBER', number))).toBe('passed');
    },
  );

  test('a name that ends in half a pair is refused', () => {
    const { client } = setUp({ ...ARGS, blocklist: ['pay'] });
    expect(
      client(RAW.replace('ID', '1').replace('NUMBER', '1').replace('pay', 'pay\\udfff')),
    ).toContain('guard.odd_text');
  });

  test.each(['9007199254740993', '1.0', '-0'])(
    'a refusal is answered to the id as written: %s',
    (id) => {
      const { client } = setUp({ ...ARGS, blocklist: ['pay'] });
      const refused = client(RAW.replace('ID', id).replace('NUMBER', '1'));
      expect(refused).toContain(`"id":${id},`);
      expect(JSON.parse(refused)).toMatchObject({ jsonrpc: '2.0', result: { isError: true } });
      expect(client(RAW.replace('ID', id).replace('NUMBER', '1e999'))).toContain(`"id":${id},`);
    },
  );

  test('so is a result that is withheld', () => {
    const { client, server } = setUp(DETECT);
    client(RAW.replace('ID', '9007199254740993').replace('NUMBER', '1').replace('pay', 'read'));
    expect(
      server(`{"jsonrpc":"2.0","id":9007199254740993,"result":${JSON.stringify(text(SECRET))}}`),
    ).toContain('"id":9007199254740993,');
  });
});
