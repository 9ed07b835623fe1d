import type { Policy } from '@agentci/policy';
import { explainAudit, explainCalls, parsePolicy, readAudit } from '@agentci/policy';
import { memoryAudit } from '@agentci/testing/memory-audit';
import vectors from '@agentci/testing/vectors/policy.json' with { type: 'json' };
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Audit } from './audit.ts';
import { Guard } from './guard.ts';
import type { GuardOptions } from './guard-options.ts';
import { headerFlaw } from './http.ts';
import { testGuard } from './self-test.ts';

const policyOf = (written: object | string): Policy => {
  const text = typeof written === 'string' ? written : JSON.stringify(written);
  const { policy, diagnostics } = parsePolicy(text, { file: 'policy.yaml', strict: true });
  if (policy === undefined) throw new Error(JSON.stringify(diagnostics));
  return policy;
};

const setUp = (written: object | string, options: Partial<GuardOptions> = {}) => {
  const audit = memoryAudit();
  const policy = policyOf(written);
  const guard = new Guard({
    policy,
    mode: 'enforce',
    strict: false,
    denyAs: 'result',
    server: undefined,
    audit,
    auditArgs: 'redacted',
    onProblem: () => {},
    ...options,
  });
  const session = guard.open('1');
  const send = (text: string | Buffer) =>
    guard.fromClient(Buffer.isBuffer(text) ? text : Buffer.from(text), session);
  return { audit, policy, guard, session, send };
};
const DENY = { tools: { deny: ['bad'] } };
const call = (id: unknown, name: unknown, args: unknown = {}, more = {}) =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, ...more } })}\n`;

describe('messages refused under any policy', () => {
  const bad = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'bad', arguments: {} },
  });
  test.each<[string, string | Buffer, string]>([
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d, 0x0a]), 'guard.invalid_utf8'],
    ['text that is not JSON', '{"jsonrpc": \n', 'guard.not_json'],
    ['two values on one line', `{}${bad}\n`, 'guard.not_json'],
    ['a message nested without end', `${'['.repeat(2000)}${']'.repeat(2000)}\n`, 'guard.too_deep'],
    [
      'the method twice',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"bad"}}\n`,
      'guard.duplicate_key',
    ],
    [
      'the method twice, the other way round',
      `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"x"}}\n`,
      'guard.duplicate_key',
    ],
    [
      'a key twice, once escaped',
      `{"jsonrpc":"2.0","id":1,"method":"ping","m\\u0065thod":"tools/call","params":{}}\n`,
      'guard.duplicate_key',
    ],
    [
      'an argument twice',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ok","arguments":{"a":1,"a":2}}}\n`,
      'guard.duplicate_key',
    ],
    [
      'a key in other letters',
      `{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"bad"}}\n`,
      'guard.odd_key',
    ],
    [
      'a key with a letter that folds to another',
      `{"jsonrpc":"2.0","id":1,"method":"ping","param\u017f":{"name":"bad"}}\n`,
      'guard.odd_key',
    ],
    ['the name under a key in other letters', call(1, 'ok', {}, { Name: 'bad' }), 'guard.odd_key'],
    [
      'a method in other letters',
      `{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{"name":"bad"}}\n`,
      'guard.bad_method',
    ],
    [
      'a method that is a list',
      `{"jsonrpc":"2.0","id":1,"method":["tools/call"],"params":{"name":"bad"}}\n`,
      'guard.bad_method',
    ],
    ['a call without an id', call(undefined, 'ok'), 'guard.bad_id'],
    ['a call with the id null', call(null, 'ok'), 'guard.bad_id'],
    ['a call without a name', call(1, undefined), 'guard.bad_name'],
    ['a name that does not show', call(1, 'ba\u200bd'), 'guard.odd_name'],
    ['a name in wide letters', call(1, '\uff42ad'), 'guard.odd_name'],
    ['a name with a control character', call(1, 'ok\u0007'), 'guard.odd_name'],
    ['arguments that are a list', call(1, 'ok', [1]), 'guard.bad_arguments'],
    [
      'parameters that are a text',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"bad"}\n`,
      'guard.bad_params',
    ],
    ['a message hidden behind a carriage return', `{"x":\r${bad}\r}\n`, 'guard.line_break'],
    [
      'a message hidden behind a line separator',
      `{"x":"\u2028${''}","y":1}\u2028${bad}\n`,
      'guard.not_json',
    ],
  ])('%s', (_, text, rule) => {
    const { send, audit } = setUp(DENY);
    const { forward, replies } = send(text);
    expect(forward).toBeUndefined();
    expect(replies).toMatchObject([{ error: { data: { 'agentci/decision': { rule } } } }]);
    expect(audit.entries.at(-1)).toMatchObject({ decision: 'deny', rule });
  });

  test('a call whose id is still waiting for an answer', () => {
    const { send, guard, session } = setUp(DENY);
    expect(send(call(1, 'ok')).forward).toBeDefined();
    expect(send(call(1, 'ok')).forward).toBeUndefined();
    guard.fromServer(Buffer.from('{"jsonrpc":"2.0","id":1,"result":{}}\n'), session);
    expect(send(call(1, 'ok')).forward).toBeDefined();
    expect(send(call('1', 'ok')).forward).toBeDefined();
  });

  test('a message that is too long', () => {
    const { guard, session } = setUp(DENY);
    expect(guard.tooLong(session)).toMatchObject({
      error: { data: { 'agentci/decision': { rule: 'guard.too_large' } } },
    });
  });
});

describe('what passes is passed as it came', () => {
  test.each([
    [
      'a call that nothing forbids',
      '{ "id" : 12345678901234567890 ,"jsonrpc":"2.0","method":"ping"}\r\n',
    ],
    ['a blank line', '\n'],
    ['an answer with a key twice', '{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}\n'],
    ['a method nobody knows', '{"jsonrpc":"2.0","method":"x/y","params":[1.0,1e2]}\n'],
    ['a batch', `[${call(1, 'ok').trim()}, {"jsonrpc":"2.0","id":2,"method":"ping"}]\n`],
    [
      'a text with a line separator',
      '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"t":"a\u2028b"}}\n',
    ],
  ])('%s', (_, text) => {
    const { send } = setUp(DENY);
    const { forward, replies } = send(text);
    expect(forward?.toString()).toBe(text);
    expect(replies).toEqual([]);
  });

  test('every byte in shadow mode, without exception', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.constant(call(1, 'bad'))), (text) => {
        const { send } = setUp(DENY, { mode: 'shadow' });
        const bytes = Buffer.from(`${text}\n`);
        expect(send(bytes)).toEqual({ forward: bytes, replies: [] });
      }),
    );
    const { send, audit } = setUp(DENY, { mode: 'shadow' });
    send(call(1, 'bad'));
    expect(audit.entries.at(-1)).toMatchObject({ decision: 'would_deny', rule: 'E_TOOL_DENIED' });
  });
});

describe('a refusal', () => {
  test('is a result that the model reads and a client can tell from a failure', () => {
    const { send } = setUp('tools:\n  deny: [bad]\n');
    expect(send(call(7, 'bad')).replies).toEqual([
      {
        jsonrpc: '2.0',
        id: 7,
        result: {
          content: [
            {
              type: 'text',
              text: 'refused by policy: E_TOOL_DENIED (policy.yaml:2): Tool is denied',
            },
          ],
          isError: true,
          _meta: {
            'agentci/decision': {
              decision: 'deny',
              rule: 'E_TOOL_DENIED',
              reason: 'Tool is denied',
              policy_line: 2,
            },
          },
        },
      },
    ]);
  });

  test('says what kind of result it is to a modern client', () => {
    const { send } = setUp(DENY);
    const modern = call(
      1,
      'bad',
      {},
      { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
    );
    expect(send(modern).replies).toMatchObject([
      { result: { resultType: 'complete', isError: true } },
    ]);
  });

  test('is an error if requested', () => {
    const { send } = setUp(DENY, { denyAs: 'error' });
    expect(send(call(1, 'bad')).replies).toMatchObject([{ error: { code: -32000 } }]);
  });

  test('in a batch leaves the rest of it as it was', () => {
    const { send } = setUp(DENY);
    const { forward, replies } = send(
      `[${call(1, 'ok', { n: 1 }).trim()},${call(2, 'bad').trim()}]\n`,
    );
    expect(forward?.toString()).toBe(`[${call(1, 'ok', { n: 1 }).trim()}]\n`);
    expect(replies).toMatchObject([{ id: 2 }]);
  });

  test('leaves no history', () => {
    const { send } = setUp({
      rules: [
        { type: 'before', first: 'login', then: 'pay' },
        { type: 'max_calls', tool: 'pay', max: 1 },
      ],
    });
    expect(send(call(1, 'pay')).forward).toBeUndefined();
    expect(send(call(2, 'login')).forward).toBeDefined();
    expect(send(call(3, 'pay')).forward).toBeDefined();
    expect(send(call(4, 'pay')).replies).toMatchObject([
      { result: { _meta: { 'agentci/decision': { rule: 'max_calls:pay<=1' } } } },
    ]);
  });

  test('is what a pattern that runs out of time, an unknown verdict and a full disk give', () => {
    const failing: Audit = {
      close: () => {},
      add: (entry) => {
        if (entry.event === 'decision') throw new Error('disk full');
      },
    };
    const { send } = setUp(DENY, { audit: failing });
    expect(send(call(1, 'ok')).replies).toMatchObject([
      { result: { _meta: { 'agentci/decision': { rule: 'guard.audit' } } } },
    ]);
    const thrown = setUp({ tools: { ok: { arguments: { a: { type: 'string' } } } } });
    Object.defineProperty(thrown.policy.tools.get('ok')!.schema!, 'check', {
      value: () => {
        throw new Error('boom');
      },
    });
    expect(thrown.send(call(1, 'ok', { a: 'x' })).replies).toMatchObject([
      { result: { _meta: { 'agentci/decision': { rule: 'guard.error' } } } },
    ]);
    const slow = setUp({
      tools: { ok: { arguments: { a: { type: 'string', pattern: '^(?=(a+)+$)b' } } } },
    });
    expect(slow.send(call(1, 'ok', { a: 'a'.repeat(40) })).forward).toBeUndefined();
  });
});

describe('names', () => {
  test.each([
    ['bare', { tools: { deny: ['rm'] } }],
    ['with the server', { tools: { deny: ['mcp__files__rm'] } }],
    ['as a glob over the server', { tools: { deny: ['mcp__files__*'] } }],
  ])('%s mean the same tool', (_, written) => {
    expect(setUp(written, { server: 'files' }).send(call(1, 'rm')).forward).toBeUndefined();
  });
});

describe('the list of tools', () => {
  const list = (tools: object[]) =>
    `{"jsonrpc":"2.0","id":9,"result":{"tools":${JSON.stringify(tools)},"nextCursor":"c", "big":12345678901234567890}}\n`;
  const ask = '{"jsonrpc":"2.0","id":9,"method":"tools/list"}\n';
  test.each([
    ['denied', DENY],
    ['not allowed', { tools: { allow: ['ok'] } }],
    ['blocked', { blocklist: ['bad'] }],
    ['blocked by a rule', { rules: [{ type: 'blocklist', tools: ['b*'] }] }],
    ['never to be called', { rules: [{ type: 'max_calls', tool: 'bad', max: 0 }] }],
    [
      'without a schema',
      {
        tools: { ok: { arguments: { a: { type: 'string' } } } },
        enforcement: { unconstrained_tools: 'deny' },
      },
    ],
  ])('has no tool that is %s', (_, written) => {
    const { send, guard, session } = setUp(written);
    send(ask);
    const text = list([{ name: 'ok', x: 1.0 }, { name: 'bad' }]);
    const seen = guard.fromServer(Buffer.from(text), session).toString();
    expect(seen).toBe(list([{ name: 'ok', x: 1.0 }]));
    // An unsolicited answer is not a list of tools.
    expect(guard.fromServer(Buffer.from(text), session).toString()).toBe(text);
  });

  test('stays unchanged if nothing is hidden, and in shadow mode', () => {
    for (const options of [{}, { mode: 'shadow' as const }]) {
      const { send, guard, session } = setUp(DENY, options);
      send(ask);
      const bytes = Buffer.from(
        list(options.mode === undefined ? [{ name: 'ok' }] : [{ name: 'bad' }]),
      );
      expect(guard.fromServer(bytes, session)).toBe(bytes);
    }
  });
});

describe('a call that the server asks the user about', () => {
  const waiting = {
    jsonrpc: '2.0',
    id: 1,
    result: { resultType: 'input_required', requestState: 's1', inputRequests: {} },
  };
  test('is one call with its second half, and only with the same arguments', () => {
    const { send, guard, session } = setUp({ rules: [{ type: 'max_calls', tool: 'pay', max: 1 }] });
    send(call(1, 'pay', { n: 1 }));
    guard.fromServer(Buffer.from(JSON.stringify(waiting)), session);
    expect(
      send(call(2, 'pay', { n: 2 }, { requestState: 's1', inputResponses: {} })).forward,
    ).toBeUndefined();
    expect(send(call(3, 'pay', { n: 1 }, { requestState: 'made up' })).forward).toBeUndefined();
    expect(
      send(call(4, 'pay', { n: 1 }, { requestState: 's1', inputResponses: {} })).forward,
    ).toBeDefined();
    expect(
      send(call(5, 'pay', { n: 1 }, { requestState: 's1', inputResponses: {} })).forward,
    ).toBeUndefined();
  });
});

describe('headers from 2026-07-28 on', () => {
  const version = { 'mcp-protocol-version': '2026-07-28' };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } };
  test.each<[string, Record<string, string>, object, boolean]>([
    [
      'say what the body says',
      { ...version, 'mcp-method': 'tools/call', 'mcp-name': 'x' },
      message,
      true,
    ],
    [
      'in base64',
      { ...version, 'mcp-method': 'tools/call', 'mcp-name': '=?base64?eA==?=' },
      message,
      true,
    ],
    ['another method', { ...version, 'mcp-method': 'ping', 'mcp-name': 'x' }, message, false],
    ['another tool', { ...version, 'mcp-method': 'tools/call', 'mcp-name': 'y' }, message, false],
    ['no name', { ...version, 'mcp-method': 'tools/call' }, message, false],
    ['no method', { ...version, 'mcp-name': 'x' }, message, false],
    [
      'a name for a method without one',
      { ...version, 'mcp-method': 'ping', 'mcp-name': 'x' },
      { ...message, method: 'ping' },
      false,
    ],
    [
      'another version than the body',
      { 'mcp-protocol-version': '2025-11-25', 'mcp-method': 'tools/call', 'mcp-name': 'x' },
      {
        ...message,
        params: { name: 'x', _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
      },
      false,
    ],
    [
      'older versions do not care',
      { 'mcp-protocol-version': '2025-11-25', 'mcp-method': 'ping' },
      message,
      true,
    ],
  ])('%s', (_, headers, body, isFine) => {
    expect(headerFlaw(headers, [body as Record<string, unknown>], false) === undefined).toBe(
      isFine,
    );
  });
});

describe('the audit', () => {
  const tools = ['a', 'b', 'c'];
  const rule = fc.constantFrom<object>(
    { type: 'before', first: 'a', then: 'b' },
    { type: 'max_calls', tool: 'a', max: 1 },
    { type: 'never_after', trigger: 'b', forbidden: 'c' },
    { type: 'sequence', tools: ['a', 'c'], strict: true },
    { type: 'immediately_before', first: 'a', then: ['c', 'b'] },
    { type: 'count', tool: { tool: 'c', args_match: { v: '1' } }, max: 1 },
    { type: 'require', tool: 'a' },
  );
  const written = fc.record(
    {
      rules: fc.array(rule, { minLength: 1, maxLength: 4 }),
      limits: fc.record({ max_tool_calls_total: fc.integer({ min: 1, max: 5 }) }),
      tools: fc.constantFrom<object>(
        { deny: ['b'] },
        { a: { arguments: { v: { type: 'integer', max: 1 } } } },
      ),
    },
    { requiredKeys: ['rules'] },
  );
  const sent = fc.array(
    fc.tuple(fc.constantFrom(...tools, 'a\u200b'), fc.integer({ min: 0, max: 2 })),
    {
      maxLength: 12,
    },
  );

  test('gives every decision again when the policy is asked about it', () => {
    fc.assert(
      fc.property(
        written,
        sent,
        fc.constantFrom('enforce' as const, 'shadow' as const),
        (policy, calls, mode) => {
          const { send, audit, guard, session, policy: judged } = setUp(policy, { mode });
          for (const [i, [name, v]] of calls.entries()) send(call(i, name, { v }));
          guard.close(session);
          const [read] = readAudit(audit.text(), 'audit.jsonl');
          const report = explainAudit(read!, judged, 't');
          expect(report.audit).toMatchObject({
            decisions: calls.length,
            reproduced: calls.length,
            differs: [],
            not_told: 0,
          });
          expect(report.at_end.map((cause) => cause.rule)).toEqual(
            read!.end!.left_open.map((left) => left.rule),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  test('tells of arguments it does not have that they cannot be judged again', () => {
    const policy = { tools: { a: { arguments: { password: { type: 'string', maxLength: 3 } } } } };
    for (const options of [{}, { auditArgs: 'hash' as const }]) {
      const { send, audit, policy: judged } = setUp(policy, options);
      send(call(1, 'a', { password: 'hunter2' }));
      send(call(2, 'b', {}));
      expect(audit.text()).not.toContain('hunter2');
      const [read] = readAudit(audit.text(), 'audit.jsonl');
      expect(explainAudit(read!, judged, 't').audit).toMatchObject({
        reproduced: 1,
        not_told: 1,
        differs: [],
      });
    }
  });

  test('notices a policy that decides differently', () => {
    const { send, audit } = setUp(DENY);
    send(call(1, 'bad'));
    const [read] = readAudit(audit.text(), 'audit.jsonl');
    const other = policyOf({ tools: { deny: ['other'] } });
    expect(explainAudit(read!, other, 't').audit!.differs).toMatchObject([
      { call: 1, recorded: 'blocked', now: 'allowed' },
    ]);
  });

  test.each<[string, (lines: string[]) => string[]]>([
    [
      'a line was changed',
      (lines) => lines.map((line) => line.replace('"tool":"ok"', '"tool":"no"')),
    ],
    ['a line is missing', (lines) => lines.filter((_, i) => i !== 1)],
    ['two lines changed places', ([a, b, c, ...rest]) => [a!, c!, b!, ...rest]],
    ['a line was added', (lines) => [...lines, lines.at(-1)!]],
  ])('is not read when %s', (_, change) => {
    const { send, audit } = setUp(DENY);
    for (let i = 0; i < 3; i++) send(call(i, 'ok'));
    const lines = audit.text().trim().split('\n');
    expect(() => readAudit(`${change(lines).join('\n')}\n`, 'audit.jsonl')).toThrow(
      /audit\.jsonl:\d/,
    );
  });
});

describe('the self-test', () => {
  test('passes for a policy that can be evaluated', () => {
    expect(() => testGuard(policyOf(DENY), false)).not.toThrow();
  });

  test('fails for one that cannot', () => {
    const policy = {
      ...policyOf(DENY),
      deny: [
        {
          text: 'x',
          matches: () => {
            throw new Error('boom');
          },
          place: { file: 'p', line: 1, column: 1 },
        },
      ],
    };
    expect(() => testGuard(policy, false)).toThrow(/boom/);
  });
});

test('the vectors of policies are judged live as offline', () => {
  interface Row {
    kind: string;
    input: Record<string, unknown>;
    expected: Record<string, unknown>;
    id: string;
  }
  const rows = (vectors as unknown as Row[]).filter(
    ({ kind }) => kind === 'args.policy_v2' || kind === 'policy.decide',
  );
  let judged = 0;
  for (const { input, expected, id } of rows) {
    if (expected.config_error) continue;
    const { tool, name, arguments: given, args } = input.call as Record<string, unknown>;
    const { send } = setUp(input.policy as object);
    const { forward } = send(call(1, tool ?? name, given ?? args ?? {}));
    expect([id, forward !== undefined]).toEqual([id, expected.status !== 'fail']);
    judged++;
  }
  expect(judged).toBeGreaterThan(5);
});

test('the vectors of order rules are judged live as offline, call by call', () => {
  interface Row {
    kind: string;
    input: { calls: string[]; rules: unknown[] };
    id: string;
  }
  const rows = (vectors as unknown as Row[]).filter(({ kind }) => kind === 'seq.rules');
  let judged = 0;
  for (const { input, id } of rows) {
    const { send, audit, policy } = setUp({ rules: input.rules }, { mode: 'shadow' });
    for (const [i, name] of input.calls.entries()) {
      if (typeof name !== 'string') continue;
      send(call(i, name));
      const calls = input.calls.slice(0, i + 1).map((each) => ({ name: each, args: {} }));
      const offline = explainCalls({ policy, calls, complete: false }).calls.at(-1)!.verdict;
      expect([id, i, audit.entries.at(-1)]).toMatchObject([id, i, { verdict: offline }]);
      judged++;
    }
  }
  expect(judged).toBeGreaterThan(20);
});
