import { describe, expect, test } from 'vitest';
import {
  credentialFields,
  isCredentialField,
  withoutCredentialFields,
} from './credential-fields.ts';

const VALUE = 'zq7-Pp0-xw21';

describe('a field of this name holds a credential', () => {
  test.each([
    ...[
      'api_key',
      'apiKey',
      'apikey',
      'APIKey',
      'x-api-key',
      'openai_api_key',
      'secret_access_key',
      'accessKeyId',
    ],
    ...[
      'password',
      'newPassword',
      'db_passwd',
      'passphrase',
      'client_secret',
      'secret',
      'credentials',
      'privateKey',
    ],
    ...['access_token', 'refreshToken', 'authorization_token', 'id_token', 'Authorization', 'jwt'],
  ])('%s: yes', (name) => {
    expect(isCredentialField(name)).toBe(true);
    expect(withoutCredentialFields(JSON.stringify({ [name]: VALUE }))).toBe(
      JSON.stringify({ [name]: '[secret]' }),
    );
  });

  test.each([
    ...[
      'max_tokens',
      'max_completion_tokens',
      'token',
      'tokens',
      'key',
      'keys',
      'code',
      'sort_key',
      'primary_key',
    ],
    ...[
      'prompt_cache_key',
      'next_page_token',
      'private',
      'author',
      'signature',
      'secret_name',
      'password_file',
    ],
  ])('%s: no', (name) => {
    expect(isCredentialField(name)).toBe(false);
  });
});

describe('what such a field holds', () => {
  test.each([
    {
      when: 'a schema',
      given: { properties: { password: { type: 'string' } }, required: ['password'] },
    },
    { when: 'too short to be one', given: { api_key: 'a', password: 'abcde' } },
    { when: 'a common word', given: { password: 'required', secret: 'optional' } },
    { when: 'a description', given: { password: 'The password of the user' } },
    {
      when: 'a number, a list, nothing',
      given: { api_key: 12345678, password: ['longer-than-8'], secret: null },
    },
    {
      when: 'words in a text',
      given: { content: `{"api_key":"${VALUE}"} and password: ${VALUE}` },
    },
    { when: 'the name of another field', given: { name: 'password', field: VALUE } },
  ])('stays: $when', ({ given }) => {
    const text = JSON.stringify(given);
    expect(withoutCredentialFields(text)).toBe(text);
  });

  test('is masked wherever it is, and however it is written', () => {
    const text = `{ "a" : [ {"b":{"password" : "it\\"is\\"${VALUE}"}} ], "api\\u005fkey":"${VALUE}","authorization":"Bearer ${VALUE}" }`;
    expect(withoutCredentialFields(text)).toBe(
      '{ "a" : [ {"b":{"password" : "[secret]"}} ], "api\\u005fkey":"[secret]","authorization":"[secret]" }',
    );
    expect(withoutCredentialFields('{"passphrase":"correct horse battery staple"}')).toBe(
      '{"passphrase":"[secret]"}',
    );
  });

  test('is data in a conversation with a model, and a key elsewhere in the request', () => {
    const body = {
      api_key: VALUE,
      mcp_servers: [{ authorization_token: VALUE }],
      messages: [{ content: [{ type: 'tool_use', input: { password: VALUE } }] }],
      extra: { secret: VALUE },
    };
    const found = credentialFields(JSON.stringify(body)).map(({ name, isData }) => [name, isData]);
    expect(found).toEqual([
      ['api_key', false],
      ['authorization_token', false],
      ['password', true],
      ['secret', false],
    ]);
  });

  test.each(['{"api_key":"', '{"api_key', '"', '{"api_key":"abc\\', ''])(
    'a text that is cut off does no harm: %o',
    (text) => {
      expect(() => credentialFields(text)).not.toThrow();
    },
  );
});
