import { simpleTrace } from '@agentci/trace';
import { describe, expect, test } from 'vitest';
import { redactTrace } from './redact-trace.ts';

const masked = (args: unknown): string =>
  JSON.stringify(
    redactTrace(simpleTrace({ answer: 'a', tool_calls: [{ name: 'call', args }] }), {
      names: false,
    }).trace.steps,
  );

describe('redact', () => {
  test.each([
    ['a key with a prefix', { OPENAI_API_KEY: 'hunter2hunter2' }],
    ['a key in camel case', { dbPassword: 'hunter2hunter2' }],
    ['a header of a vendor', { 'x-goog-api-key': 'hunter2hunter2' }],
    ['a key of a cloud', { aws_secret_access_key: 'hunter2hunter2' }],
    ['a token', { token: 'hunter2hunter2' }],
    ['the login in an address', { url: 'postgres://app:hunter2hunter2@db.internal/x' }],
  ])('masks %s', (_, args) => {
    expect(masked(args)).toContain('[secret]');
    expect(masked(args)).not.toContain('hunter2');
  });

  test('masks a basic login, and leaves basic words alone', () => {
    const code = Buffer.from('app:hunter2').toString('base64');
    expect(masked({ header: `Basic ${code}` })).not.toContain(code);
    expect(masked({ text: 'basic functionality' })).toContain('basic functionality');
  });

  test.each([{ max_tokens: 100 }, { token_count: 7 }, { cookies_sold: 3 }])(
    'leaves %j alone',
    (args) => {
      expect(masked(args)).not.toContain('[secret]');
    },
  );
});

test.each([
  [
    'a token in running text',
    `see ${['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', 'c2lnbmF0dXJlLW9mLWl0'].join('.')} there`,
    'eyJ',
  ],
  ['a private key', '-----BEGIN PRIVATE KEY-----\nMIIabc\n-----END PRIVATE KEY-----', 'MIIabc'],
])('%s leaves nothing behind', (_, answer, secret) => {
  const { trace, masked } = redactTrace(simpleTrace({ answer }), { names: false });
  expect(JSON.stringify(trace)).not.toContain(secret);
  expect(masked.get('secret')).toBe(1);
});
