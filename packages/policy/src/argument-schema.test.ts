import { describe, expect, test } from 'vitest';
import { evaluateArguments } from './evaluate-arguments.ts';
import { parsePolicy } from './parse-policy.ts';

/** The constraints that a value breaks as argument `v` of a call of `t`. */
function broken(constraint: object, value: unknown, rest: object = {}): string[] {
  const policy = { tools: { t: { arguments: { v: constraint } } } };
  const { violations } = evaluateArguments({
    calls: [{ tool: 't', arguments: { v: value, ...rest } }],
    policy,
  });
  return violations.map(({ argument, constraint: text }) => `${argument} ${text}`);
}

describe('keywords', () => {
  test.each([
    [{ type: 'string' }, 'a', 1, 'type: string'],
    [{ type: 'integer' }, 3, 3.5, 'type: integer'],
    [{ type: 'boolean' }, false, 'false', 'type: boolean'],
    [{ type: 'array' }, [], {}, 'type: array'],
    [{ type: 'object' }, {}, [], 'type: object'],
    [{ type: ['string', 'null'] }, null, 1, 'type: [string, null]'],
    [{ min: 1 }, 1, 0.99, 'min: 1'],
    [{ minimum: 1 }, 1, 0, 'minimum: 1'],
    [{ max: 30 }, 30, 30.01, 'max: 30'],
    [{ maximum: 30 }, 30, 31, 'maximum: 30'],
    [{ exclusiveMin: 0 }, 0.1, 0, 'exclusiveMin: 0'],
    [{ exclusiveMinimum: 0 }, 1, 0, 'exclusiveMinimum: 0'],
    [{ exclusiveMax: 5 }, 4.9, 5, 'exclusiveMax: 5'],
    [{ exclusiveMaximum: 5 }, 4, 5, 'exclusiveMaximum: 5'],
    [{ multipleOf: 0.01 }, 0.07, 0.075, 'multipleOf: 0.01'],
    [{ multipleOf: 0.1 }, 1.1, 1.15, 'multipleOf: 0.1'],
    [{ multipleOf: 3 }, 9007199254740990, 10, 'multipleOf: 3'],
    [{ enum: ['a', 1, null, { k: [1] }] }, { k: [1] }, 'b', 'enum: ["a",1,null,{"k":[1]}]'],
    [{ const: 5 }, 5, '5', 'const: 5'],
    [{ minLength: 2 }, '😀😀', '😀', 'minLength: 2'],
    [{ maxLength: 2 }, '😀😀', 'abc', 'maxLength: 2'],
    [{ pattern: '^ord_[0-9]+$' }, 'ord_12', 'x', 'pattern: ^ord_[0-9]+$'],
    [{ items: { type: 'integer' }, type: 'array' }, [1, 2], [1, 'x'], '[1] type: integer'],
    [{ minItems: 1 }, [0], [], 'minItems: 1'],
    [{ maxItems: 1 }, [0], [0, 1], 'maxItems: 1'],
    [
      { uniqueItems: true },
      [1, '1', [1]],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      'uniqueItems: true',
    ],
    [{ properties: { a: { type: 'string' } } }, { a: 'x' }, { a: 1 }, '.a type: string'],
    [{ type: 'object', required: ['a'] }, { a: 1 }, {}, '.a required'],
    [{ properties: { a: { type: 'string', required: true } } }, { a: '' }, {}, '.a required'],
    [
      { type: 'object', additionalProperties: false, properties: { a: {} } },
      { a: 1 },
      { b: 1 },
      '.b additionalProperties: false',
    ],
    [
      { type: 'object', additionalProperties: { type: 'number' } },
      { a: 1 },
      { a: 'x' },
      '.a type: number',
    ],
  ] as const)('%j keeps %j and refuses %j', (constraint, good, bad, text) => {
    expect(broken(constraint, good)).toEqual([]);
    const [at, ...words] = /^[.[]/.test(text) ? text.split(' ') : ['', text];
    expect(broken(constraint, bad)).toEqual([`v${at} ${words.join(' ')}`]);
  });

  test.each([
    ['email', 'john.doe@example.com', 'john.doe@'],
    ['email', 'jürgen@exämple.de', 'a@b@c@'],
    ['uri', 'https://example.com/a?b=%20', 'example.com'],
    ['uri', 'urn:isbn:1', 'http://'],
    ['uuid', '123e4567-e89b-12d3-a456-426614174000', '123e4567'],
    ['date', '2024-02-29', '2023-02-29'],
    ['datetime', '2025-12-27T10:00:00Z', '2025-12-27T10:00:00'],
    ['date-time', '2025-12-27t10:00:00.5+02:00', '2025-13-27T10:00:00Z'],
    ['time', '10:00:00', '24:00:00'],
    ['ipv4', '127.0.0.1', '127.0.0.01'],
    ['ipv6', '2001:db8::1', '2001:db8:::1'],
    ['ipv6', '::ffff:127.0.0.1', '::ffff:127.0.0.256'],
    ['ipv6', '1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7'],
    ['hostname', 'a-b.example', '-a.example'],
  ])('the format %s is asserted: %s, not %s', (format, good, bad) => {
    expect(broken({ type: 'string', format }, good)).toEqual([]);
    expect(broken({ type: 'string', format }, bad)).toEqual([`v format: ${format}`]);
  });

  test('a keyword without a type still refuses values of other types', () => {
    expect(broken({ max: 100 }, '5000')).toEqual(['v type: number']);
  });

  test.each([
    [{ method: 'card' }, { method: 'card' }, true],
    [{ method: 'card' }, { method: 'cash' }, false],
    [{ method: 'card' }, {}, false],
    [{ method: ['card', 'transfer'], country: 'NL' }, { method: 'transfer', country: 'NL' }, true],
    [{ method: ['card', 'transfer'], country: 'NL' }, { method: 'transfer', country: 'DE' }, false],
  ])('required_if %j with %j: %s', (condition, args, isRequired) => {
    const policy = {
      tools: { t: { arguments: { iban: { type: 'string', required_if: condition } } } },
    };
    const { violations } = evaluateArguments({ calls: [{ tool: 't', arguments: args }], policy });
    expect(violations.map(({ argument }) => argument)).toEqual(isRequired ? ['iban'] : []);
  });

  test.each([
    ['block', 'fail', 1, 0],
    ['warn', 'warn', 1, 0],
    ['log', 'pass', 0, 1],
  ])('on_violation: %s gives %s', (on_violation, status, violations, logged) => {
    const policy = { tools: { t: { arguments: { v: { max: 1, on_violation } } } } };
    const result = evaluateArguments({ calls: [{ tool: 't', arguments: { v: 2 } }], policy });
    expect(result.status).toBe(status);
    expect([result.violations.length, result.logged.length]).toEqual([violations, logged]);
  });

  test('one value is a fail and the other a warning: the worse counts', () => {
    const policy = {
      tools: { t: { arguments: { a: { max: 1, on_violation: 'warn' }, b: { max: 1 } } } },
    };
    expect(
      evaluateArguments({ calls: [{ tool: 't', arguments: { a: 2, b: 2 } }], policy }),
    ).toMatchObject({
      status: 'fail',
      violations: [
        { argument: 'a', severity: 'warn' },
        { argument: 'b', severity: 'block' },
      ],
    });
  });
});

describe('what a violation says', () => {
  const text =
    'tools:\n  apply_discount:\n    arguments:\n      percent:\n        type: number\n        min: 0\n        max: 30\n';

  test('the shape of the Assay documents, with the line of the keyword', () => {
    const { policy } = parsePolicy(text, { file: 'policies/p.yaml' });
    const calls = [{ tool: 'apply_discount', arguments: { percent: 50 } }];
    const clock = [0, 2];
    expect(evaluateArguments({ calls, policy: policy!, now: () => clock.shift()! })).toMatchObject({
      metric: 'args_valid',
      status: 'fail',
      violations: [
        {
          tool: 'apply_discount',
          argument: 'percent',
          value: 50,
          constraint: 'max: 30',
          policy_line: 7,
        },
      ],
      duration_ms: 2,
    });
  });

  test('every violation of every call is listed, with the number of the call', () => {
    const { policy } = parsePolicy(text);
    const calls = [50, 10, -1].map((percent) => ({
      tool: 'apply_discount',
      arguments: { percent },
    }));
    expect(evaluateArguments({ calls, policy: policy! }).violations).toMatchObject([
      { call: 0, constraint: 'max: 30' },
      { call: 2, constraint: 'min: 0' },
    ]);
  });

  test.each([
    ['arguments that were not captured are not known', { name: 'apply_discount' }, 'error'],
    [
      'arguments that are no map are a violation',
      { name: 'apply_discount', argsRaw: '{percent: 5' },
      'fail',
    ],
    ['a list is no map', { name: 'apply_discount', args: [50] }, 'fail'],
  ])('%s', (_, call, status) => {
    const { policy } = parsePolicy(text);
    expect(evaluateArguments({ calls: [call], policy: policy! }).status).toBe(status);
  });

  test('hostile names are names', () => {
    const { policy } = parsePolicy(
      'tools:\n  __proto__: {arguments: {constructor: {type: string, required: true}}}\n',
    );
    const result = evaluateArguments({
      calls: [
        { name: '__proto__', args: JSON.parse('{"__proto__": 1}') },
        { name: 'toString', args: {} },
      ],
      policy: policy!,
    });
    expect(result.violations).toMatchObject([{ argument: 'constructor', constraint: 'required' }]);
    expect(result.unknown_tools).toEqual({ toString: 1 });
  });
});

describe('references', () => {
  const files: Record<string, string> = {
    'common.yaml':
      'definitions:\n  amount: {type: number, max: 100}\n  cents: {$ref: "#/definitions/amount", multipleOf: 0.01}\n',
    'loop.yaml': 'definitions:\n  a: {$ref: "#/definitions/b"}\n  b: {$ref: "#/definitions/a"}\n',
  };
  const readFile = (path: string) =>
    files[path] === undefined
      ? ({ ok: false, message: 'gone' } as const)
      : ({ ok: true, file: path, text: files[path] } as const);
  const parse = (ref: string) =>
    parsePolicy(
      `definitions: {own: {type: string, maxLength: 2}}\ntools: {t: {arguments: {v: {$ref: "${ref}"}}}}\n`,
      {
        file: 'p.yaml',
        readFile,
      },
    );

  test.each([
    ['#/definitions/own', 'abc', { constraint: 'maxLength: 2', policy_line: 1 }],
    [
      'common.yaml#/definitions/amount',
      101,
      { constraint: 'max: 100', policy_line: 2, policy_file: 'common.yaml' },
    ],
    [
      'common.yaml#/definitions/cents',
      0.005,
      { constraint: 'multipleOf: 0.01', policy_line: 3, policy_file: 'common.yaml' },
    ],
  ])('%s', (ref, value, violation) => {
    const { policy, diagnostics } = parse(ref);
    expect(diagnostics).toEqual([]);
    expect(
      evaluateArguments({ calls: [{ tool: 't', arguments: { v: value } }], policy: policy! })
        .violations,
    ).toMatchObject([violation]);
  });

  test.each([
    ['#/definitions/none', 'POLICY_SCHEMA'],
    ['missing.yaml#/x', 'POLICY_SCHEMA'],
    ['loop.yaml#/definitions/a', 'POLICY_SCHEMA'],
  ])('%s is a located error', (ref, code) => {
    expect(parse(ref).diagnostics).toMatchObject([{ code }]);
  });

  test('references that multiply take no time', () => {
    const levels = Array.from(
      { length: 30 },
      (_, i) =>
        `  d${i}: {type: object, properties: {a: {$ref: "#/definitions/d${i + 1}"}, b: {$ref: "#/definitions/d${i + 1}"}}}`,
    );
    const text = `definitions:\n${levels.join('\n')}\n  d30: {type: string}\ntools: {t: {arguments: {v: {$ref: "#/definitions/d0"}}}}\n`;
    const started = performance.now();
    expect(parsePolicy(text).diagnostics).toEqual([]);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('the v2 form', () => {
  const judge = (policy: object, ...calls: object[]) =>
    evaluateArguments({
      calls: calls as { tool: string }[],
      policy: policy as Record<string, unknown>,
    });
  const call = (tool: string, args: object = {}) => ({ tool, arguments: args });

  test('schemas beyond the plain ones run too', () => {
    const policy = { schemas: { t: { anyOf: [{ required: ['a'] }, { required: ['b'] }] } } };
    expect(judge(policy, call('t', { b: 1 })).status).toBe('pass');
    expect(judge(policy, call('t'))).toMatchObject({
      status: 'fail',
      violations: [{ code: 'E_ARG_SCHEMA' }, {}, {}],
    });
  });

  test.each([
    ['allow', 'pass', 0],
    ['warn', 'warn', 1],
    ['deny', 'fail', 1],
  ])('unconstrained_tools: %s', (mode, status, count) => {
    const policy = { tools: { deny: ['x'] }, enforcement: { unconstrained_tools: mode } };
    const result = judge(policy, call('read'));
    expect(result.status).toBe(status);
    expect(result.violations).toHaveLength(count);
    if (count > 0) expect(result.violations).toMatchObject([{ code: 'E_TOOL_UNCONSTRAINED' }]);
    expect(result.unknown_tools).toEqual({ read: 1 });
  });

  test('calls beyond the limit are each a violation, before anything else is asked', () => {
    const policy = { tools: { deny: ['x'] }, limits: { max_tool_calls_total: 2 } };
    expect(judge(policy, call('a'), call('b'), call('x'), call('c')).violations).toMatchObject([
      { code: 'E_RATE_LIMIT', call: 2 },
      { code: 'E_RATE_LIMIT', call: 3 },
    ]);
  });

  test('strict: a tool the policy does not know fails, with the nearest name', () => {
    const policy = { tools: { apply_discount: { arguments: { v: { type: 'string' } } } } };
    const result = evaluateArguments({ calls: [call('apply_discuont')], policy, strict: true });
    expect(result).toMatchObject({
      status: 'fail',
      violations: [{ code: 'E_POLICY_MISSING_TOOL' }],
    });
    expect(result.violations[0]?.message).toContain('apply_discount');
  });

  test('an exact name wins over a glob, and a glob speaks for many tools', () => {
    const policy = {
      tools: {
        'admin_*': { arguments: { v: { max: 1 } } },
        admin_x: { arguments: { v: { max: 9 } } },
      },
    };
    expect(judge(policy, call('admin_x', { v: 5 })).status).toBe('pass');
    expect(judge(policy, call('admin_y', { v: 5 })).status).toBe('fail');
  });

  test('a filter that leaves nothing to check is refused', () => {
    const policy = { tools: { refund: { arguments: { v: { max: 1 } } } } };
    expect(() => evaluateArguments({ calls: [], policy, tools: ['refnd'] })).toThrow(
      /did you mean "refund"/,
    );
  });
});
