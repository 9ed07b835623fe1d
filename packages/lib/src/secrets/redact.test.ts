import { describe, expect, test } from 'vitest';
import { redact, redactText } from './redact.ts';

// Split, so that secret scanners ignore them.
const SECRETS: [string, string][] = [
  ['OpenAI', `sk-proj-${'aB3'.repeat(16)}`],
  ['Anthropic', `sk-ant-api03-${'xY9_'.repeat(20)}`],
  ['GitHub', `ghp_${'a1B2'.repeat(9)}`],
  ['AWS', `AKIA${'A1B2'.repeat(4)}`],
  ['Slack', `xoxb-123456789012-123456789012-${'aB3d'.repeat(6)}`],
  ['Stripe', `sk_live_${'aB3d'.repeat(6)}`],
  ['Google', `AIza${'aB3dE'.repeat(7)}`],
  ['a JWT', `eyJ${'a1'.repeat(10)}.eyJ${'b2'.repeat(10)}.${'c3'.repeat(12)}`],
  [
    'a private key',
    `-----BEGIN RSA PRIVATE KEY-----\n${'QUJD'.repeat(16)}\n-----END RSA PRIVATE KEY-----`,
  ],
  ['a private key that was cut off', `-----BEGIN PRIVATE KEY-----\n${'QUJD'.repeat(16)}`],
  ['a bearer token', `Bearer ${'tok3n.'.repeat(5)}`],
];

describe('the audit holds no secret that its form gives away', () => {
  test.each(SECRETS)('%s', (_, secret) => {
    const core = secret.split('\n').at(1) ?? secret.replace('Bearer ', '');
    for (const value of [secret, { t: `here: ${secret}` }, [[{ a: secret }]], { [secret]: 1 }]) {
      const { value: clean, isRedacted } = redact(value);
      expect(JSON.stringify(clean)).not.toContain(core);
      expect(isRedacted).toBe(true);
    }
    expect(redactText(`found ${secret}`)).not.toContain(core);
  });

  test.each<[string, object]>([
    ['a password', { password: 'hunter2' }],
    ['a password that is a number', { password: 84217 }],
    ['passwords in a list', { passwords: ['hunter2'] }],
    ['a password in JSON in a text', { body: '{"password": "hunter2"}' }],
    ['a cookie', { headers: { Cookie: 'hunter2' } }],
    ['a cookie that is set', { 'set-cookie': ['hunter2; Path=/'] }],
    ['a session', { session: 'hunter2' }],
    ['the id of a session', { sessionId: 'hunter2' }],
    ['a cookie in a header line', { args: ['-H', 'Cookie: sid=hunter2'] }],
    ['an option in a list', { args: ['run', '--token', 'hunter2', 'x'] }],
    ['a short option in a list', { args: ['-password', 'hunter2'] }],
    ['a login in an address', { url: 'postgres://user:hunter2@host/db' }],
  ])('%s', (_, value) => {
    const { value: clean, isRedacted } = redact(value);
    expect(JSON.stringify(clean)).not.toMatch(/hunter2|84217/);
    expect(isRedacted).toBe(true);
  });

  test('leaves other values alone', () => {
    const value = {
      text: 'The meeting is at 10.',
      tokens: 500,
      list: [1, null, true],
      nested: { a: 'b' },
      args: ['--name', 'x'],
      obsession: 'y',
    };
    expect(redact(value)).toEqual({ value, isRedacted: false });
  });
});
